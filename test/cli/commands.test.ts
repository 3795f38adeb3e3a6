import { describe, expect, it } from "@effect/vitest"
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { ask, dataDirectory, done, run, serve, until } from "../support/cli/commandLine.ts"
import { createAcme, doneInProcess, runInProcess } from "../support/cli/inProcess.ts"
import { flags, main, root } from "../support/run/program.ts"

/** What a command prints, without what differs from run to run. */
const steady = (text: string) =>
  text.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID").replaceAll(/osc_live_\w+/g, "KEY")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME").replaceAll(/\b[0-9a-f]{64}\b/g, "HASH")
    // A running service signs once a minute, a command without one when it ends.
    .replaceAll(/^\d+ checkpoints?, signed by .*$/gm, "CHECKPOINTS")

const owner = "olivia@acme.example"

/** What each command says, one after another, in an empty database. */
const story = async (data: string) => {
  const said: Array<string> = []
  const say = async (args: ReadonlyArray<string>, stdin?: string) => {
    const { status, stderr, stdout } = await runInProcess(
      [...args, "--data", data],
      stdin === undefined ? {} : { stdin }
    )
    said.push(`${args.slice(0, 2).join(" ")}: ${status}\n${steady(stdout)}${steady(stderr)}`.replaceAll(data, "DATA"))
    return stdout
  }
  await say(["organizations", "create", "acme", "--name", "Acme", "--owner", owner, "--seats", "3"])
  await say(["organizations", "create", "acme", "--name", "Acme", "--owner", owner])
  await say(["admins", "create", "acme", "ada@acme.example", "--role", "admin", "--json"])
  const made = JSON.parse(
    await say(["keys", "create", "acme", owner, "--label", "First", "--scopes", "org:read,accounts:write", "--json"])
  )
  await say(["keys", "revoke", "acme", made.key_id])
  await say(["admins", "set-password", "acme", owner], "short\n")
  await say(["admins", "set-password", "acme", owner], "seven green lanterns hum\n")
  await say(["admins", "disable", "acme", "ADA@acme.example"])
  await say(["admins", "enable", "acme", "ada@acme.example"])
  await say(["journal", "verify"])
  return said
}

describe("the commands", () => {
  it(
    "print the same through a running service as without one, and journal what they change as an operator's act",
    async () => {
      const data = dataDirectory()
      const service = await serve(["--data", data])
      const through = await story(data)
      const lines = (await doneInProcess(["journal", "export", "acme", "--data", data])).trimEnd().split("\n")
      expect(await service.stop()).toBe(0)
      const alone = dataDirectory()
      expect(await story(alone)).toEqual(through)

      expect(through.map((line) => line.split("\n")[0])).toEqual([
        "organizations create: 0",
        "organizations create: 1",
        "admins create: 0",
        "keys create: 0",
        "keys revoke: 0",
        "admins set-password: 1",
        "admins set-password: 0",
        "admins disable: 0",
        "admins enable: 0",
        "journal verify: 0"
      ])
      expect(through[1]).toBe("organizations create: 1\nThere is an organization acme already.\n")
      expect(through[5]).toBe("admins set-password: 1\nA password has 12 to 1024 characters.\n")
      // Checkpoints may follow the events, and the keys that signed them do.
      const events = lines.map((line) => JSON.parse(line)).filter(({ object }) => object === "journal_event")
      expect(events.map(({ action }) => action)).toEqual([
        "organization.created",
        "admin.created",
        "api_key.created",
        "api_key.revoked",
        "admin.password_set",
        "admin.disabled",
        "admin.enabled"
      ])
      for (const event of events) {
        expect(event).toMatchObject({
          outcome: "done",
          actor: { type: "operator", admin_id: null, name: null },
          credential: null,
          via: "cli"
        })
      }
      expect(JSON.stringify(events)).not.toMatch(/_live_|green lanterns/)
      expect(fs.readFileSync(path.join(data, "pepper"), "utf8")).not.toBe(
        fs.readFileSync(path.join(alone, "pepper"), "utf8")
      )
    },
    300_000
  )

  it("stop keys at once: of a disabled admin, revoked, and made before a password", async () => {
    const data = dataDirectory()
    const service = await serve(["--data", data])
    const act = (args: ReadonlyArray<string>, stdin?: string) =>
      doneInProcess([...args, "--data", data], stdin === undefined ? {} : { stdin })
    const makeKey = async (admin = owner) =>
      JSON.parse(await act(["keys", "create", "acme", admin, "--label", "K", "--scopes", "org:read", "--json"]))
    const status = async (key: string) => (await ask(service.address, key, "GET", "/v1/organization")).status
    await act(["organizations", "create", "acme", "--name", "Acme", "--owner", owner])

    const before = await makeKey()
    const preferences = () => ask(service.address, before.key, "GET", "/v1/me/mail-preferences")
    expect((await preferences()).body.error.code).toBe("mail_preferences_unavailable")
    await act(["admins", "set-password", "acme", owner], "seven green lanterns hum\n")
    expect(await status(before.key)).toBe(401)

    const { key, key_id } = await makeKey()
    const mail = await ask(service.address, key, "GET", "/v1/me/mail-preferences")
    expect([mail.status, mail.body.email]).toEqual([200, owner])
    const second = "sam@acme.example"
    await act(["admins", "create", "acme", second, "--role", "superadmin"])
    const { key: theirs } = await makeKey(second)
    await act(["admins", "disable", "acme", second])
    expect(await status(theirs)).toBe(401)
    await act(["admins", "enable", "acme", second])
    expect(await status(theirs)).toBe(200)
    await act(["keys", "revoke", "acme", key_id])
    expect(await status(key)).toBe(401)

    const settings = ["status", "--json", "--data", data]
    // What is set that nothing reads is looked for among the variables of the process.
    const beside = JSON.parse(await done(settings, { env: { CONSOLE_PROT: "1" } }))
    expect(beside).toMatchObject({
      program: { node: process.versions.node },
      database: { kind: "embedded", place: data, organizations: 1 },
      service: { url: service.address, pid: service.pid },
      unknown_variables: [{ name: "CONSOLE_PROT", nearest: "CONSOLE_PORT" }],
      problems: []
    })
    expect(beside.peppers_known).toEqual(beside.database.peppers_used)
    expect(await service.stop()).toBe(0)
    fs.renameSync(path.join(data, "pepper"), path.join(data, "pepper.lost"))
    const alone = await runInProcess(settings)
    expect(alone.status).toBe(1)
    expect(JSON.parse(alone.stdout)).toMatchObject({ service: null, peppers_known: [] })
    expect(JSON.parse(alone.stderr).error.message).toMatch(/^Peppers that keys were made with are missing/)
    expect(fs.existsSync(path.join(data, "pepper"))).toBe(false)
    const nowhere = await runInProcess(["status", "--data", path.join(data, "nowhere")])
    expect([nowhere.status, nowhere.stderr]).toEqual([1, "The database: there is none yet.\n"])
  }, 300_000)
})

describe("what commands refuse", () => {
  it("says in one line why, and ends with 1; a line that cannot be read ends with 2", async () => {
    const data = dataDirectory()
    const file = path.join(data, "not.json")
    fs.writeFileSync(file, "{")
    const service = await serve(["--data", data])
    await createAcme(data)
    const cases: ReadonlyArray<readonly [args: ReadonlyArray<string>, status: number, line: RegExp]> = [
      [["organizations", "create", "Acme!", "--name", "A", "--owner", owner], 1, /^An organization's id is 1 to 63/],
      [["organizations", "create", "b", "--name", "B", "--owner", "nobody"], 1, /^owner: Expected an email address\.$/],
      [
        ["organizations", "create", "b", "--name", "B"],
        2,
        /--owner; see security-console organizations create --help$/
      ],
      [["admins", "create", "acme", owner, "--role", "admin"], 1, /^acme has an admin olivia@acme\.example already\.$/],
      [["admins", "create", "acme", "b@acme.example", "--role", "owner"], 1, /^acme has an owner already\.$/],
      [["admins", "create", "nope", owner, "--role", "admin"], 1, /^There is no organization nope\.$/],
      [["admins", "create", "acme", owner, "--role", "chief"], 2, /--role/],
      [["admins", "disable", "acme", "b@acme.example"], 1, /^acme has no admin b@acme\.example\.$/],
      [["keys", "create", "acme", owner, "--label", "", "--scopes", "org:read"], 1, /^label: /],
      [["keys", "create", "acme", owner, "--label", "L", "--scopes", "org:none"], 2, /--scopes/],
      [
        ["keys", "create", "acme", owner, "--label", "L", "--scopes", "org:read", "--expires-in-days", "0"],
        1,
        /^expires_in/
      ],
      [
        [
          "keys",
          "create",
          "acme",
          owner,
          "--label",
          "L",
          "--scopes",
          "org:read",
          "--expires-in-days",
          "5",
          "--never-expires"
        ],
        1,
        /^--never-expires and --expires-in-days contradict each other/
      ],
      [["keys", "revoke", "acme", "123"], 1, /^acme has no key 123\.$/],
      [["seed", path.join(data, "missing.json")], 1, /missing\.json cannot be read\.$/],
      [["seed", file], 1, /not\.json is not JSON/],
      [["journal", "verify", "--organization", "nope"], 1, /^There is no organization nope\.$/],
      [["journal", "verify", "--checkpoint", "package.json"], 1, /^package\.json does not hold checkpoints\.$/],
      [["journal", "checkpoint", "--organization", "nope"], 1, /^There is no organization nope\.$/],
      [["journal", "export", "nope"], 1, /^There is no organization nope\.$/]
    ]
    for (const [args, status, line] of cases) {
      const ended = await runInProcess([...args, "--data", data])
      expect([args, ended.status, ended.stdout]).toEqual([args, status, ""])
      expect(ended.stderr.trimEnd().split("\n")).toHaveLength(1)
      expect(ended.stderr.trimEnd()).toMatch(line)
    }
    expect(await service.stop()).toBe(0)
    const [unknown, near] = await Promise.all([run(["bogus"]), runInProcess(["keys", "creat"])])
    expect([unknown.status, near.status]).toEqual([2, 2])
    expect(near.stderr).toBe(
      "Unknown subcommand \"creat\" for \"security-console keys\": did you mean create?; see security-console keys --help\n"
    )
  }, 300_000)
})

describe("what the commands print for people", () => {
  it("is next what to do with a new organization: its owner's password, and then a key, in a clone by npm", async () => {
    const data = dataDirectory()
    const hint = [
      `  npm run cli -- admins set-password acme ${owner} --data ${data}`,
      `  npm run cli -- keys create acme ${owner} --label "First key" --scopes org:read,accounts:write --data ${data}`
    ]
    expect((await createAcme(data)).trimEnd().split("\n").slice(-2)).toEqual(hint)
  })

  it("is of a new key the key alone on standard output, and what it is on standard error", async () => {
    const data = dataDirectory()
    await createAcme(data)
    const create = ["keys", "create", "acme", owner, "--label", "L", "--scopes", "org:read", "--data", data]
    const shown = await runInProcess(create)
    expect(shown.stdout).toMatch(/^osc_live_\w+\n$/)
    expect(shown.stderr).toMatch(/^Key \S+ of olivia@acme\.example; it is shown this once, and works until [^\n]+\n$/)
    const json = await runInProcess([...create, "--json"])
    expect([JSON.parse(json.stdout).key, json.stderr]).toEqual([expect.stringMatching(/^osc_live_/), ""])
  })

  it("is of accounts a table by name, and of a journal its newest events, which --follow goes on with", async () => {
    const data = dataDirectory()
    const service = await serve(["--demo", "--data", data])
    const accounts = await doneInProcess(["accounts", "list", "demo", "--data", data])
    expect(accounts).toMatch(/^ACCOUNT ID +NAME +STATUS +TIER\n/)
    expect(accounts).toMatch(/^[0-9a-f-]{36} {2}Amara Okafor +protected +governance$/m)
    const { accounts: listed } = JSON.parse(await doneInProcess(["accounts", "list", "demo", "--json", "--data", data]))
    expect(listed).toHaveLength(accounts.trimEnd().split("\n").length - 1)

    const tail = ["journal", "tail", "demo", "--data", data]
    const newest = (await doneInProcess([...tail, "--lines", "1"])).trimEnd().split("\n")
    expect(newest).toEqual([expect.stringMatching(/^\S+Z {2}\d+ {2}\w+\.\w+.* {2}by /)])
    const child = childProcess.spawn(process.execPath, [...flags, main, ...tail, "--follow", "--json"], { cwd: root })
    let followed = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => followed += text)
    await until(() => followed !== "")
    await doneInProcess(["admins", "set", "demo", "sam@demo.example", "--name", "Sam \u001b[31mRed", "--data", data])
    await until(() => followed.includes("\"admin.set\""))
    child.kill("SIGINT")
    const events = followed.trimEnd().split("\n").map((line) => JSON.parse(line))
    expect(events.map(({ sequence }) => sequence)).toEqual(
      events.map((_, index) => events[0].sequence + index)
    )
    expect(await doneInProcess([...tail])).toContain("\\u001b[31mRed")
    expect(await doneInProcess(["admins", "list", "demo", "--data", data])).toContain("Sam  [31mRed")
    await service.stop()
  }, 120_000)
})

describe("the documents that the commands print", () => {
  it.each([
    ["openapi", "openapi.json"],
    ["seed-schema", "seeds/seed.schema.json"]
  ])("%s prints what is committed as %s", async (command, file) => {
    expect(await doneInProcess([command])).toBe(fs.readFileSync(path.join(import.meta.dirname, "../..", file), "utf8"))
  })

  it("names each flag of a command once in its help, and none of a service's in the help of what does not use it", async () => {
    for (const words of [["serve"], ["mcp"], ["keys", "create"]]) {
      const help = await doneInProcess([...words, "--help"])
      const named = [...help.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, name = ""]) => name)
      expect([words, named.filter((name, index) => named.indexOf(name) !== index)]).toEqual([words, []])
      expect([words, named.includes("--log-level")]).toEqual([words, words[0] !== "keys"])
    }
    expect(await doneInProcess(["mcp", "--help"])).not.toMatch(/--(?:mail|support|billing)-/)
  })

  it("explains every command with --help", async () => {
    const named = /^ {2}([\w-]+) {2,}\S/gm
    const subcommands = (help: string) =>
      [...help.replace(/^[^]*SUBCOMMANDS\n/, "").matchAll(named)].map(([, name = ""]) => name)
    const names = subcommands(await doneInProcess(["--help"]))
    expect(names).toEqual(
      expect.arrayContaining(["serve", "migrate", "organizations", "admins", "keys", "seed", "journal"])
    )
    const helps = await Promise.all(
      [["admins", "set-password"], ["keys", "create"], ["journal", "export"]].map((words) =>
        doneInProcess([...words, "--help"])
      )
    )
    for (const help of helps) expect(help).toMatch(/DESCRIPTION[^]*USAGE[^]*FLAGS[^]*--data[^]*EXAMPLES/)
    expect(subcommands(await doneInProcess(["admins", "--help"]))).toEqual([
      "create",
      "set-password",
      "reset-factor",
      "disable",
      "enable",
      "invitation",
      "password-link",
      "list",
      "show",
      "set",
      "link-identity",
      "unlink-identity"
    ])
  }, 60_000)
})
