import { describe, expect, it } from "@effect/vitest"
import { PGlite } from "@electric-sql/pglite"
import canonicalize from "canonicalize"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { startParams } from "../../src/layers/postgres/Pglite.ts"
import { ask, dataDirectory, freshDirectory, run, serve } from "../support/cli/commandLine.ts"
import { doneInProcess, runInProcess } from "../support/cli/inProcess.ts"

/** The lines of an export that hold events. */
const events = (ndjson: string): ReadonlyArray<string> =>
  ndjson.trimEnd().split("\n").filter((line) => JSON.parse(line).object === "journal_event")

/** What a collector needs to check an export by itself: the first event that does not continue the chain, if any. */
const broken = (organization: string, ndjson: string): number | undefined => {
  const sha256 = (...parts: ReadonlyArray<string | Buffer>) =>
    parts.reduce((hash, part) => hash.update(part), crypto.createHash("sha256")).digest("hex")
  let sequence = 0
  let previous = sha256(`journal/1\n${organization}`)
  for (const line of events(ndjson)) {
    const { hash, ...event } = JSON.parse(line)
    sequence++
    const expected = sha256(Buffer.from(previous, "hex"), canonicalize(event) ?? "")
    if (event.sequence !== sequence || event.prev_hash !== previous || hash !== expected) return sequence
    previous = hash
  }
  return undefined
}

/** The cells of a CSV (RFC 4180) by row. */
const cells = (csv: string): ReadonlyArray<ReadonlyArray<string>> =>
  csv.trimEnd().split("\n").map((line) =>
    [...line.matchAll(/"((?:[^"]|"")*)"|([^,]+)/g)].map(([, quoted, bare]) =>
      quoted?.replaceAll("\"\"", "\"") ?? bare ?? ""
    )
  )

const seed = {
  organizations: [{
    id: "acme",
    name: "Acme",
    status: "active",
    plan: "governance",
    seat_limit: 5,
    admins: [{ email: "olivia@acme.example", name: "=cmd|'/c calc'!A0", role: "owner" }],
    accounts: [{ phone: "+31612340001", first_name: "Ada" }],
    api_keys: [{ label: "@SUM(1,\"2\")", admin: "olivia@acme.example", scopes: ["org:read", "accounts:write"] }]
  }]
}

/** Changes the stored journal as somebody who owns the machine could. */
const tamper = async (data: string, statement: string) => {
  const database = await PGlite.create(path.join(data, "database"), { startParams })
  await database.exec(`set session_replication_role = replica; ${statement}`)
  await database.close()
}

describe("a journal at the command line", () => {
  it(
    "is exported whole, verified by others, safe in a spreadsheet, and found out when it was touched or cut",
    async () => {
      const data = dataDirectory()
      const here = ["--data", data]
      const kept = freshDirectory()
      const file = path.join(kept, "seed.json")
      fs.writeFileSync(file, JSON.stringify(seed))
      const service = await serve(here)
      const [{ key }] = JSON.parse(await doneInProcess(["seed", file, ...here])).keys
      const [account] = (await ask(service.address, key, "GET", "/v1/accounts")).body.data
      for (const role_label of ["=1+1", "Łabel 🙂"]) {
        const labelled = await ask(service.address, key, "PUT", `/v1/accounts/${account.id}/role-label`, { role_label })
        expect(labelled.status).toBe(200)
      }
      const ndjson = await doneInProcess(["journal", "export", "acme", ...here])
      expect(events(ndjson)).toHaveLength(3)
      expect(broken("acme", ndjson)).toBeUndefined()
      expect(broken("acme", ndjson.replace("Łabel", "Label"))).toBe(3)
      expect(events(await doneInProcess(["journal", "export", "acme", "--after-sequence", "2", ...here]))).toEqual([
        events(ndjson)[2]
      ])

      const [header = [], , second = []] = cells(
        await doneInProcess(["journal", "export", "acme", "--format", "csv", ...here])
      )
      const cell = (name: string) => second[header.indexOf(name)]
      expect(cell("actor.name")).toBe("'=cmd|'/c calc'!A0")
      expect(cell("credential.label")).toBe("'@SUM(1,\"2\")")
      expect(JSON.parse(cell("details") ?? "")).toEqual({ role_label: "=1+1" })
      expect([cell("sequence"), cell("hash")]).toEqual(["2", JSON.parse(events(ndjson)[1] ?? "").hash])

      const checkpoints = path.join(kept, "checkpoint.json")
      fs.writeFileSync(checkpoints, await doneInProcess(["journal", "checkpoint", "--json", ...here]))
      const { body: published } = await ask(service.address, key, "GET", "/.well-known/journal-keys")
      expect(JSON.parse(fs.readFileSync(checkpoints, "utf8"))).toMatchObject({
        checkpoints: [{ organization: "acme", sequence: 3, hash: JSON.parse(events(ndjson)[2] ?? "").hash }],
        keys: published.keys
      })
      expect(published.keys).toHaveLength(1)

      // An auditor has the export and the public key, and neither the database nor a key that signs.
      const proof = path.join(kept, "export.ndjson")
      const trusted = path.join(kept, "keys.json")
      fs.writeFileSync(proof, await doneInProcess(["journal", "export", "acme", ...here]))
      fs.writeFileSync(trusted, JSON.stringify(published))
      const audit = ["journal", "verify", "--export", proof, "--public-key", trusted]
      expect(await doneInProcess(audit)).toMatch(/^acme: 3 events, unbroken, signed up to 3 by \S+\n$/)
      const [{ kid, x }] = published.keys
      const strange = { ...published.keys[0], x: `${x.startsWith("A") ? "B" : "A"}${x.slice(1)}` }
      fs.writeFileSync(trusted, JSON.stringify({ keys: [{ ...strange, kid }] }))
      const forged = await runInProcess(audit)
      expect([forged.status, forged.stdout]).toEqual([1, expect.stringContaining("a key that is not known")])
      const verify = ["journal", "verify", "--checkpoint", checkpoints, ...here]
      expect(await doneInProcess(verify)).toMatch(/^acme +3 events, unbroken/)
      expect(await service.stop()).toBe(0)

      await tamper(
        data,
        `
      delete from journal_event where sequence = 3;
      update journal_head set (sequence, hash) = (select sequence, hash from journal_event where sequence = 2)`
      )
      for (const command of [["journal", "verify", ...here], verify]) {
        const cut = await runInProcess(command)
        expect([cut.status, cut.stderr]).toEqual([1, "A journal is broken.\n"])
        expect(cut.stdout).toMatch(/^acme +BROKEN at \d+ +it ends before a checkpoint\n/)
      }

      await tamper(data, `update journal_event set details = '{"role_label": "Boss"}' where sequence = 2`)
      const edited = await runInProcess(["journal", "verify", "--json", ...here])
      expect([edited.status, JSON.parse(edited.stderr).error.message]).toEqual([1, "A journal is broken."])
      expect(JSON.parse(edited.stdout)).toMatchObject({
        ok: false,
        journals: [{ organization: "acme", ok: false, sequence: 2, hash: null, reason: "hash" }]
      })
      const copy = await doneInProcess(["journal", "export", "acme", ...here])
      expect(broken("acme", copy)).toBe(2)

      await doneInProcess([
        "organizations",
        "create",
        "bolt",
        "--name",
        "Bolt",
        "--owner",
        "olga@bolt.example",
        ...here
      ])
      const pepper = path.join(data, "pepper")
      fs.renameSync(pepper, `${pepper}.kept`)
      const lost = await runInProcess(["journal", "verify", ...here])
      expect([lost.status, lost.stdout, fs.existsSync(pepper)]).toEqual([1, "", false])
      expect(lost.stderr).toMatch(
        /^The database holds credentials whose pepper is not given \(1 API keys under [0-9a-f]{8}\): restore [^\n]+\n$/
      )
      fs.renameSync(`${pepper}.kept`, pepper)

      const gone = path.join(kept, "gone.json")
      const named = [{ organization: "gone", sequence: 7, hash: "0".repeat(64) }]
      fs.writeFileSync(gone, JSON.stringify({ checkpoints: named }))
      const missing = await runInProcess(["journal", "verify", "--json", "--checkpoint", gone, ...here])
      expect([missing.status, JSON.parse(missing.stdout).journals.at(-1)]).toEqual([
        1,
        { organization: "gone", ok: false, sequence: 0, hash: null, reason: "missing" }
      ])
      const others = await runInProcess(["journal", "verify", "--organization", "acme", "--checkpoint", gone, ...here])
      expect([others.status, others.stderr]).toEqual([1, "No checkpoint is one of acme: it proves nothing.\n"])
      for (
        const [text, line] of [["", "holds no checkpoint"], ["{\"checkpoints\":[]}", "holds no checkpoint"], [
          "[]",
          "does not hold"
        ]]
      ) {
        fs.writeFileSync(gone, text ?? "")
        const refused = await runInProcess(["journal", "verify", "--checkpoint", gone, ...here])
        expect([refused.status, refused.stdout]).toEqual([1, ""])
        expect(refused.stderr).toMatch(new RegExp(`^\\S+gone\\.json ${line}[^\\n]*\\n$`))
      }

      const both = await runInProcess(["journal", "verify", "--json", ...here])
      expect([both.status, JSON.parse(both.stdout)]).toMatchObject([1, {
        ok: false,
        journals: [{ organization: "acme", ok: false }, { organization: "bolt", ok: true }]
      }])
    },
    300_000
  )

  it("is not found, and none is made, where there is no database: only serve and seed make one", async () => {
    const folder = freshDirectory()
    const data = path.join(folder, "dta")
    const env = { CONSOLE_DATA: data, CONSOLE_API_KEY: "osc_live_x" }
    for (
      const command of [
        ["journal", "verify"],
        ["mcp"],
        ["migrate"],
        ["organizations", "create", "acme", "--name", "Acme", "--owner", "olivia@acme.example"]
      ]
    ) {
      const refused = await (command[0] === "mcp" ? run : runInProcess)(command, { env })
      const program = command[0] === "mcp" ? "security-console" : "npm run cli --"
      expect([command, refused.status, refused.stdout, refused.stderr]).toEqual([
        command,
        1,
        "",
        `There is no database in ${data}: check --data, ` +
        `or make one there with \`${program} serve\` or \`${program} seed\`.\n`
      ])
    }
    expect(fs.readdirSync(folder)).toEqual([])
    const file = path.join(folder, "seed.json")
    fs.writeFileSync(file, JSON.stringify({ organizations: [] }))
    await doneInProcess(["seed", file], { env })
    const empty = await runInProcess(["journal", "verify"], { env })
    expect([empty.status, empty.stdout, empty.stderr]).toEqual([
      1,
      "",
      "There is no journal: the database has no organizations.\n"
    ])
  }, 300_000)
})
