import { describe, expect, it } from "@effect/vitest"
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as net from "node:net"
import * as path from "node:path"
import { promisify } from "node:util"
import { onTestFinished } from "vitest"
import manifest from "../../package.json" with { type: "json" }
import { nodeFlags } from "../../src/cli/process/NodeFlags.ts"
import {
  ask,
  dataDirectory,
  flagsOf,
  freshDirectory,
  run,
  serve,
  shownKeys,
  until
} from "../support/cli/commandLine.ts"
import { doneInProcess, runInProcess } from "../support/cli/inProcess.ts"
import { flags, main } from "../support/run/program.ts"

const execFile = promisify(childProcess.execFile)

/** What a start says before it has settled anything, and before it opens the database. */
const starting = `Starting Organization Security Console ${manifest.version} ...\n`
const opening = (data: string) => `Opening the embedded database in ${data} ...\n`

const lives = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

interface Pasted {
  readonly answers: ReadonlyArray<any>
  /** The output of the last command of the program. */
  readonly said: string
}

/** Runs the printed lines in a shell, but for the one that needs a browser. */
const paste = async (text: string): Promise<Pasted> => {
  const lines = text.split("\n").filter((line) => line.startsWith("  ") && !line.endsWith(" --sign-in"))
  const command = `security-console() { '${process.execPath}' ${flags.join(" ")} '${main}' "$@" > command.txt; }`
  const directory = freshDirectory()
  const { stdout } = await execFile("bash", ["-c", ["set -e", command, ...lines].join("\n")], { cwd: directory })
  const answers = stdout.replaceAll("}{", "}\n{").trim().split("\n").map((line) => JSON.parse(line))
  return { answers, said: fs.readFileSync(path.join(directory, "command.txt"), "utf8") }
}

/** The admins of the demo, and whether the console admits each with the password that the greeting says. */
const signedIn = (address: string, greeting: string) =>
  Promise.all(
    [...greeting.matchAll(/^ +(\S+@\S+) +\w+ +password: (.*)$/gm)].map(async ([, email = "", password = ""]) => {
      const { headers, status } = await fetch(new URL("/console/sign-in", address), {
        method: "POST",
        headers: { origin: new URL(address).origin },
        body: new URLSearchParams({ organization: "demo", email, password }),
        redirect: "manual"
      })
      return [email, status === 303 && headers.has("set-cookie")]
    })
  )

/** Changes the archive password on its page, without a script, as the owner whom the greeting names. */
const changeArchivePassword = async (address: string, greeting: string, password: string) => {
  const [, email = "", ownPassword = ""] = /^ +(\S+@\S+) +owner +password: (.*)$/m.exec(greeting) ?? []
  const [, before = ""] = /CONSOLE_ARCHIVE_PASSWORD="(.*?)"/.exec(greeting) ?? []
  const origin = new URL(address).origin
  const post = (path: string, cookie: string, form: Readonly<Record<string, string>>) =>
    fetch(new URL(path, address), {
      method: "POST",
      headers: { origin, cookie },
      body: new URLSearchParams(form),
      redirect: "manual"
    })
  const signedIn = await post("/console/sign-in", "", { organization: "demo", email, password: ownPassword })
  const cookie = signedIn.headers.getSetCookie().map((line) => line.split(";", 1)[0]).join("; ")
  const path = "/console/archive-key/change"
  const page = await (await fetch(new URL(`${path}?by=service`, address), { headers: { cookie } })).text()
  const hidden = Object.fromEntries(
    [...page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [name, value])
  )
  const form = { ...hidden, password: ownPassword, secret: before, new: password, repeated: password }
  const changed = await post(path, cookie, form)
  return { status: changed.status, text: await changed.text() }
}

describe("the service on the embedded database", () => {
  it(
    "walks the demo as printed, greets at every start with a key, and keeps what was done over a restart",
    async () => {
      const data = dataDirectory()
      const begun = performance.now()
      const first = await serve(["--demo", "--data", data])
      const keys = await shownKeys(first)
      expect(keys).toHaveLength(3)
      expect(fs.statSync(path.join(data, "console.sock")).mode & 0o777).toBe(0o600)
      expect(fs.statSync(path.join(data, "pepper")).mode & 0o777).toBe(0o600)

      const roles = await Promise.all(keys.map(async (key) => {
        const { body } = await ask(first.address, key, "GET", "/v1/me/mail-preferences")
        return body.email
      }))
      expect(roles).toEqual(["olivia@demo.example", "ada@demo.example", "bill@demo.example"])

      const { answers: [organization, accounts, paused, journal], said } = await paste(
        first.stdout().replace(/^[^]*Try it:\n/, "")
      )
      expect(said).toMatch(/^demo: part 1 of 1 of export \S+, \d+ files, all as the manifest says\n/)
      expect(performance.now() - begun).toBeLessThan(180_000)
      expect(organization).toMatchObject({ object: "organization", id: "demo" })
      expect(accounts.data).toHaveLength(3)
      expect(paused).toMatchObject({ object: "account_action", status: "paused" })
      expect(journal.data).toMatchObject([{ action: "account.paused", account_id: paused.account_id }])
      const ready = await fetch(new URL("/readyz", first.address))
      expect(await ready.json()).toEqual({ status: "ok", watch: "active" })
      for (const key of keys) expect(first.stderr()).not.toContain(key)
      // People of the demo write to its accounts, and it is archived: the archive's commands find their account beside
      // others that have as many chats by now.
      await until(async () => {
        const { body } = await ask(first.address, keys[0] ?? "", "GET", "/v1/archive/accounts")
        await new Promise((resolve) => setTimeout(resolve, 500))
        return body.data.filter(({ chats }: { chats: number }) => chats === 3).length > 1
      })
      expect(await first.stop()).toBe(0)

      const second = await serve(["--demo", "--data", data])
      const [key = ""] = keys
      const { body } = await ask(second.address, key, "GET", `/v1/accounts/${paused.account_id}`)
      expect(body).toMatchObject({ id: paused.account_id, status: "paused" })
      const [fresh = "", ...more] = await shownKeys(second)
      expect(more).toEqual([])
      const { answers: [again, , , , archived, found] } = await paste(second.stdout().replace(/^[^]*Try it:\n/, ""))
      expect(again).toMatchObject({ object: "organization", id: "demo" })
      expect(archived.data[0]).toMatchObject({ object: "message", chat_id: "5000000002" })
      expect(found.data[0]).toMatchObject({ object: "message", text: expect.stringContaining("discount") })
      const archivePassword = "seven green lanterns hum"
      const changed = await changeArchivePassword(second.address, second.stdout(), archivePassword)
      expect([changed.status, changed.text]).toEqual([200, expect.stringContaining("Recovery code")])
      const search = (password: string) =>
        fetch(new URL("/v1/archive/search", second.address), {
          method: "POST",
          headers: {
            authorization: `Bearer ${key}`,
            "content-type": "application/json",
            "archive-password": Buffer.from(password).toString("base64url")
          },
          body: JSON.stringify({ query: "discount" })
        })
      expect(await (await search(archivePassword)).json()).toMatchObject({ data: found.data })
      const [, demoPassword = ""] = /CONSOLE_ARCHIVE_PASSWORD="(.*?)"/.exec(second.stdout()) ?? []
      expect((await search(demoPassword)).status).toBe(403)
      const visitor = { headers: { accept: "text/html" }, redirect: "manual" } as const
      const home = await fetch(second.address, visitor)
      expect([home.status, home.headers.get("location")]).toEqual([303, "/console"])
      const program = await ask(second.address, fresh, "GET", "/")
      expect([program.status, program.body.error.code]).toEqual([404, "resource_missing"])
      const admins = ["olivia", "sam", "ada", "alex", "bill", "archie"].map((name) => [`${name}@demo.example`, true])
      expect((await signedIn(second.address, second.stdout())).toSorted()).toEqual(admins.toSorted())
      expect(await second.stop()).toBe(0)
      expect(second.stdout()).toContain(
        `  Console        ${second.address.replace("127.0.0.1", "localhost")}/console\n`
      )
      expect(second.stderr()).not.toContain(fresh)

      const third = await serve(["--data", data])
      const profile = await ask(third.address, key, "GET", `/v1/accounts/${paused.account_id}/messenger-profile`)
      expect([profile.status, profile.body.error.code]).toEqual([409, "no_session"])
      const held = await runInProcess(["demo", "reset", "--data", data])
      expect([held.status, held.stdout]).toEqual([1, ""])
      expect(held.stderr).toMatch(/is in use by process \d+/)
      expect(await third.stop()).toBe(0)
      fs.writeFileSync(path.join(data, "notes.txt"), "mine")
      expect(await doneInProcess(["demo", "reset", "--data", data])).toMatch(
        /^Removed the demo in .*; the next start makes it/
      )
      expect(fs.readdirSync(data)).toEqual(["notes.txt"])
    },
    300_000
  )

  it(
    "says in an empty database how to make an organization, which works as printed, and then refuses the demo",
    async () => {
      const data = dataDirectory()
      const service = await serve(["--data", data])
      await until(() => service.stdout().includes("keys create"))
      expect(service.stdout()).not.toContain("_live_")
      const hints = [...service.stdout().matchAll(/^ {2}(?:security-console|npm run cli --) (.*)$/gm)]
        .map(([, line = ""]) => line)
      expect(hints.map((line) => line.endsWith(` --data ${data}`))).toEqual([true, true, true])
      const words = (line: string) =>
        [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "")
      const [created = "", password = "", made = ""] = hints
      expect(await doneInProcess(words(created))).toMatch(/^Created acme/)
      expect(await doneInProcess(words(password), { stdin: "seven green lanterns hum\n" })).toMatch(/^Set the password/)
      const key = await doneInProcess(words(made))
      const { body, status } = await ask(service.address, key.trimEnd(), "GET", "/v1/organization")
      expect([status, body.id, body.name]).toEqual([200, "acme", "Acme"])

      const other = await run(["serve", "--port", "0", "--data", data])
      expect([other.status, other.stdout]).toEqual([1, starting + opening(data)])
      expect(other.stderr).toMatch(
        /^The directory .* is in use by process \d+: stop it, or choose another directory\.\n$/
      )
      expect(await service.stop()).toBe(0)

      const demo = await runInProcess(["serve", "--demo", "--port", "0", "--data", data])
      expect([demo.status, demo.stdout]).toEqual([1, opening(data)])
      expect(demo.stderr).toMatch(/^--demo refuses a database that holds organizations of its own[^\n]*\n$/)
      const reset = await runInProcess(["demo", "reset", "--data", data])
      expect([reset.status, reset.stderr]).toEqual([1, `${data} holds the organization acme: it is no demo.\n`])
      expect(fs.existsSync(path.join(data, "pepper"))).toBe(true)
    },
    300_000
  )

  it("lets the request in flight finish when it is asked to stop, and ends with 0", async () => {
    const service = await serve(["--demo", "--data", dataDirectory()])
    const [key = ""] = await shownKeys(service)
    const { hostname, port } = new URL(service.address)
    const socket = net.connect(Number(port), hostname)
    let answer = ""
    socket.setEncoding("utf8").on("data", (text: string) => answer += text)
    const closed = new Promise((resolve) => socket.once("close", resolve))
    const body = JSON.stringify({ security: true, storage: false, news: false, offers: true })
    socket.write(
      `PUT /v1/me/mail-preferences HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`
    )
    await until(() => answer.includes("100 Continue"))
    socket.write(body.slice(0, 10))
    service.signal("SIGTERM")
    await until(() => fetch(service.address).then(() => false, () => true))
    socket.write(body.slice(10))
    await closed
    expect(answer).toMatch(/HTTP\/1\.1 200 OK[^]*"offers":true/)
    expect(await service.ended).toBe(0)
  }, 120_000)
})

describe("what serve refuses before it touches a database", () => {
  it.each(["/proc/console", "/proc/console/data", "/dev/null"])(
    "%s as a directory ends with 1 and one line that names it",
    async (directory) => {
      const ended = await runInProcess(["serve", "--port", "0", "--data", directory])
      expect([ended.status, ended.stdout]).toEqual([1, opening(directory)])
      expect(ended.stderr).toContain(directory.split("/data")[0])
      expect(ended.stderr.trimEnd().split("\n")).toHaveLength(1)
    },
    120_000
  )

  const cases: ReadonlyArray<readonly [args: ReadonlyArray<string>, status: number, line: RegExp]> = [
    [["--demo", "--host", "0.0.0.0"], 1, /^--demo listens on loopback alone/],
    [["--roles", "worker"], 1, /^The embedded database has one process/],
    [["--roles", "api,works"], 1, /^--roles is api, worker or both, separated by a comma, not "api,works"/],
    [["--key-prefix", "X"], 1, /^--key-prefix is 2 to 16/],
    [["--database-url", "postgres://console@db.example/console"], 1, /needs TLS: add sslmode=require/],
    [["--trusted-proxies", "everyone"], 1, /^--trusted-proxies is a list such as 10\.0\.0\.0\/8, not everyone/],
    [["--database-url", "postgres://console@127.0.0.1:1/console"], 1, /needs CONSOLE_PEPPERS: make one with `openssl/],
    [
      ["--port", "70000"],
      2,
      /--port: "70000"\. Expected: a whole number from 0 to 65535; see security-console serve --help/
    ],
    [["--archive-runs", "0"], 2, /--archive-runs: "0"\. Expected: a whole number from 1 to 1000;/],
    [["--archive-rate", "101"], 2, /--archive-rate: "101"\. Expected: a whole number from 1 to 100;/],
    [["--archive-media-rate", "fast"], 2, /--archive-media-rate/],
    [["--archive-recheck", "-1"], 2, /--archive-recheck/],
    [["--log-format", "loud"], 2, /--log-format/],
    [["--nope"], 2, /Unrecognized flag: --nope/],
    [["extra"], 2, /extra/]
  ]
  it.each(cases)("%j ends with %i and one line", async (args, status, line) => {
    const data = path.join(freshDirectory(), "never")
    const ended = await runInProcess(["serve", ...args, "--data", data])
    expect([ended.status, ended.stdout]).toEqual([status, ""])
    expect(fs.existsSync(data)).toBe(false)
    expect(ended.stderr).toMatch(line)
    expect(ended.stderr.trimEnd().split("\n")).toHaveLength(1)
  })

  it(
    "a port in use is named, and a variable with its value and what is allowed, as JSON where that is asked",
    async () => {
      const data = path.join(freshDirectory(), "never")
      const other = net.createServer().listen(0, "127.0.0.1")
      await new Promise((resolve) => other.once("listening", resolve))
      const address = other.address()
      const port = String(typeof address === "object" ? address?.port : "")
      const [taken, variable] = await Promise.all([
        runInProcess(["serve", "--port", port, "--data", data]),
        runInProcess(["journal", "verify", "--json", "--data", data], { env: { CONSOLE_MAX_CONNECTIONS: "many" } })
      ])
      await new Promise((resolve) => other.close(resolve))
      expect([taken.status, taken.stdout]).toEqual([1, ""])
      expect(taken.stderr).toBe(
        `Port ${port} is in use by another program: stop it, or choose another port with --port (0 takes a free one).\n`
      )
      expect([variable.status, variable.stdout]).toEqual([2, ""])
      expect(JSON.parse(variable.stderr)).toEqual({
        error: {
          code: "usage_invalid",
          message: `CONSOLE_MAX_CONNECTIONS is a whole number from 1 to 1000, not "many"; see ` +
            "security-console journal verify --help"
        }
      })
      expect(fs.existsSync(data)).toBe(false)
    },
    60_000
  )
})

describe("npm start", () => {
  it("is the demo in a directory of its own, whatever the environment says, and ends with npm", async () => {
    const [data, real] = [path.join(freshDirectory(), "demo"), path.join(freshDirectory(), "real")]
    const npm = childProcess.spawn("npm", ["start", "--", "--port", "0", "--data", data], {
      cwd: path.join(import.meta.dirname, "../.."),
      env: { ...process.env, CONSOLE_DATA: real, CONSOLE_DATABASE_URL: "postgres://nobody@127.0.0.1:1/nothing" },
      stdio: ["ignore", "pipe", "inherit"]
    })
    onTestFinished(() => void npm.kill("SIGKILL"))
    let said = ""
    npm.stdout.setEncoding("utf8").on("data", (text: string) => said += text)
    const ended = new Promise((resolve) => npm.once("close", resolve))
    await until(() => said.includes("/v1/journal?account_id=$ACCOUNT&limit=1\"\n"))
    expect(said).toContain(`\n${starting}${opening(data)}Listening on `)
    const pid = Number(fs.readFileSync(path.join(data, "console.lock"), "utf8"))
    expect(flagsOf(pid)).toEqual(nodeFlags)
    expect(fs.statSync(data).mode & 0o777).toBe(0o700)
    expect(fs.existsSync(real)).toBe(false)
    npm.kill("SIGTERM")
    await ended
    await until(() => !lives(pid))
  }, 240_000)
})
