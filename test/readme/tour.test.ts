import { describe, expect, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { onTestFinished } from "vitest"
import { form, person } from "../oauth/person.ts"
import { ask, freshDirectory, until } from "../support/cli/commandLine.ts"
import { fillDirectory } from "../support/postgres/database.ts"
import { postgresLayer } from "../support/postgres/databaseRoles.ts"
import { DatabaseServer } from "../support/postgres/databaseServer.ts"
import * as Pages from "./pages.ts"

const clone = async () => {
  const folder = freshDirectory()
  const made = new Pages.Clone(folder, await Pages.freePort())
  onTestFinished(() => made.stop())
  return { folder, made }
}

/** The status of signing in with the password. */
const signIn = async (address: string, password: string) =>
  (await fetch(`${address}/console/sign-in`, {
    method: "POST",
    redirect: "manual",
    body: form({ organization: "acme", email: "olivia@acme.example", password, return_to: "/console/developer" })
  })).status

/** The program of docs/oauth.md, against the service, and with a port of its own for the callback. */
const application = async (address: string) => {
  const folder = path.join(Pages.root, `.readme-oauth-${process.pid}`)
  fs.mkdirSync(folder)
  onTestFinished(() => fs.rmSync(folder, { recursive: true }))
  const [{ code = "" } = {}] = Pages.blocks(Pages.read("docs/oauth.md")).filter(({ kind }) => kind === "ts oauth")
  const file = path.join(folder, "oauth.ts")
  const port = String(await Pages.freePort())
  fs.writeFileSync(file, code.replaceAll("http://127.0.0.1:8080", address).replaceAll("33418", port))
  const child = childProcess.spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] })
  onTestFinished(() => void child.kill("SIGKILL"))
  let output = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => output += text)
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
  await until(() => /^Open (\S+)$/m.test(output))
  return { address: new URL(/^Open (\S+)$/m.exec(output)?.[1] ?? ""), ended, output: () => output }
}

const servers = (text: string): any => JSON.parse(text).mcpServers["security-console"]

describe("the documents, pasted from top to bottom", () => {
  it("lead from two commands to a service with an organization, its assistants and its applications", async () => {
    const { folder, made } = await clone()
    // What is made where there is nothing at all, the tests of serve say: it takes a processor five seconds each time.
    for (const data of ["data", "demo-data"]) fillDirectory(path.join(folder, data))
    const toured = await made.paste(Pages.read("README.md"))

    // The tour has paused an account, and read the entry that this left.
    expect(toured.some((output) => output.includes(`"action":"paused"`))).toBe(true)
    expect(toured.some((output) => output.includes(`"action":"account.paused"`))).toBe(true)

    // The key that the page makes works when the page has been read to its end, and so does the password.
    const started = await made.paste(Pages.read("docs/getting-started.md"))
    const [key = ""] = started.flatMap((output) => /^osc_live_\S+$/m.exec(output) ?? [])
    expect(await ask(made.address, key, "GET", "/v1/organization")).toMatchObject({ status: 200, body: { id: "acme" } })
    expect(await signIn(made.address, "a long password")).toBe(303)

    const [remote, local] = Pages.blocks(Pages.read("docs/assistants.md")).filter(({ kind }) => kind === "json")
      .map(({ code }) =>
        servers(made.here(code).replaceAll("osc_live_...", key).replaceAll("/path/to/the/clone", folder))
      )
    const listed = await fetch(remote.url, {
      method: "POST",
      headers: {
        ...remote.headers,
        "content-type": "application/json",
        accept: "application/json, text/event-stream"
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" })
    })
    expect([listed.status, await listed.text()]).toEqual([200, expect.stringContaining("list_protected_accounts")])
    const client = new Client({ name: "reader", version: "1.0.0" })
    await client.connect(
      new StdioClientTransport({
        command: local.command,
        args: local.args,
        env: { PATH: made.env["PATH"] ?? "", ...local.env },
        cwd: folder
      })
    )
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain("pause_protection")
    await client.close()

    const program = await application(made.address)
    const returned = await person(made.address, "acme", "olivia@acme.example", { consolePassword: "a long password" })(
      program.address,
      ["org:read"]
    )
    await fetch(returned)
    expect(await program.ended).toBe(0)
    expect(program.output()).toContain("id: 'acme'")

    // The commands of the configuration's page, a new password among them, which ends what was made before.
    await made.paste(Pages.read("docs/configuration.md"))
    expect(await signIn(made.address, "another long password")).toBe(303)
    expect((await ask(made.address, key, "GET", "/v1/organization")).status).toBe(401)

    // Nothing of this is in the way of the demo.
    const greeting = await made.start("npm start")
    const [, again = ""] = /^ {2}export KEY=(\S+)$/m.exec(greeting) ?? []
    expect(await ask(made.address, again, "GET", "/v1/organization")).toMatchObject({ body: { id: "demo" } })
  }, 300_000)

  it("bring the service up on a PostgreSQL whose administrator has run what the page says", async () => {
    const section = Pages.read("docs/operations.md", "PostgreSQL")
    const server = await DatabaseServer.start()
    onTestFinished(() => server.stop())
    const statements = Pages.blocks(section).filter(({ kind }) => kind === "sql").flatMap(({ code }) =>
      code.split(/;\s*$/m).map((statement) => statement.trim()).filter((statement) => statement !== "")
    )
    expect(statements.length).toBeGreaterThan(2)
    await Effect.runPromise(
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        for (const statement of statements) yield* sql.unsafe(statement)
      }).pipe(Effect.provide(postgresLayer(server.url())))
    )
    const { made } = await clone()
    const { host } = new URL(server.url())
    await made.paste(section.replaceAll("127.0.0.1:5432", host))
    expect((await fetch(`${made.address}/readyz`)).status).toBe(200)
  }, 180_000)

  it("run the commands of a clone from its sources", () => {
    const { scripts } = JSON.parse(fs.readFileSync(path.join(Pages.root, "package.json"), "utf8"))
    expect(scripts.cli).toBe("node src/cli/main.ts")
  })

  it("have no block that nothing runs", () => {
    const ran = new Set([
      "sh",
      "json",
      "sql",
      "ts embed",
      "ts seed",
      "ts mount",
      "ts replace",
      "ts wire",
      "ts client",
      "ts oauth"
    ])
    for (
      const file of [
        "README.md",
        "docs/getting-started.md",
        "docs/configuration.md",
        "docs/oauth.md",
        "docs/assistants.md",
        "docs/embedding.md"
      ]
    ) {
      const kinds = Pages.blocks(Pages.read(file)).map(({ kind }) => kind)
      expect([file, kinds.filter((kind) => !ran.has(kind))]).toEqual([file, []])
      const others = file === "docs/assistants.md" ? ["json"] : file === "docs/embedding.md" ? [] : ["sh"]
      expect([file, kinds.filter((kind) => !kind.startsWith("ts ") && !others.includes(kind))]).toEqual([file, []])
    }
  })
})
