import { beforeAll, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { ask, dataDirectory, freshDirectory, serve, shownKeys } from "../support/cli/commandLine.ts"
import { createKey, doneInProcess } from "../support/cli/inProcess.ts"
import { makeIdentity } from "../support/dataCentre/Handshake.ts"
import { fillDirectory, postgresUrl } from "../support/postgres/database.ts"
import { flags } from "../support/run/program.ts"
import * as World from "../support/world.ts"
import * as Pages from "./pages.ts"

const root = path.join(import.meta.dirname, "../..")
const embedding = Pages.read("docs/embedding.md")
const configuration = Pages.read("docs/configuration.md")
const manifest = JSON.parse(fs.readFileSync(path.join(root, "package.json"), "utf8"))

/** Where a build keeps the declarations of the package. */
const keeper = new URL("../../scripts/declarations.mjs", import.meta.url).href

/** A fenced block by the words after its fence. */
const block = (kind: string): string => {
  const found = Pages.blocks(embedding).find((each) => each.kind === kind)
  if (found === undefined) throw new Error(`docs/embedding.md has no block ${kind}`)
  return found.code
}

/** The sources that the package's own names stand for. */
const own = (code: string): string =>
  code.replaceAll(/from "org-security-console(\/\w+)?"/g, (_, entry = "") => {
    const { default: target } = manifest.exports[`.${entry}`]
    return `from "../${target.replace("./dist/", "src/").replace(/\.js$/, ".ts")}"`
  })

/** Writes the example with what the test adds to it. */
const writeExample = (folder: string, kind: string, more: string) =>
  fs.writeFileSync(path.join(folder, `${kind}.ts`), `${own(block(`ts ${kind}`))}\n${own(more)}`)

/** The compiler's exit code, and what it finds; several checkers would each check the package's sources. */
const compile = (args: ReadonlyArray<string>) => {
  const tsc = path.join(root, "node_modules/.bin/tsc")
  const { status, stdout } = childProcess.spawnSync(tsc, [...args, "--singleThreaded"], { encoding: "utf8" })
  return [status, stdout] as const
}

/** Runs examples in turn in one process, which takes seconds to load what they import; what each says last. */
const execute = (folder: string, kinds: ReadonlyArray<string>, cwd: string, env: Record<string, string> = {}) => {
  const file = path.join(folder, "execute.ts")
  const lines = kinds.map((kind, at) => `await import("./${kind}.ts?${at}")\nconsole.log("end")\n`)
  fs.writeFileSync(file, lines.join(""))
  const output = childProcess.execFileSync(process.execPath, [...flags, file], {
    cwd,
    encoding: "utf8",
    env: { ...process.env, ...env }
  })
  // What it logs stands before.
  return output.split("\nend\n").slice(0, -1).map((said): any => JSON.parse(said.trim().split("\n").at(-1) ?? ""))
}

/** What each example is followed by, so that there is something to see. */
const endings = {
  embed: `console.log(JSON.stringify(page))\n`,
  seed: `console.log(JSON.stringify({ created, keys: keys.length }))\n`,
  mount: `
const authorization = \`Bearer \${process.env["MOUNTED"]}\`
const response = await handler(
  new Request("http://127.0.0.1:3000/v1/organization", { headers: { authorization } })
)
const listed = await handler(
  new Request("http://127.0.0.1:3000/mcp", {
    method: "POST",
    headers: { authorization, "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" })
  })
)
const tools = (await listed.text()).includes("list_protected_accounts")
console.log(JSON.stringify({ alive: answer.status, status: response.status, body: await response.json(), tools }))
await close()
`,
  replace: `
import { Messenger } from "org-security-console"
const refused = MessengerSession.MessengerSession.use((messenger) => messenger.open(Messenger.SessionRef.make("1")))
const failure = await Effect.runPromise(refused.pipe(Effect.scoped, Effect.flip, Effect.provide(MyConsole)))
console.log(JSON.stringify({ failure: failure instanceof MessengerSession.PlatformUnavailable }))
`,
  wire: `
import { Effect } from "effect"
const { DATABASE = "", PEPPERS = "", CHECKPOINT_KEYS = "", CSRF_KEYS = "", PUBLIC_KEY = "" } = process.env
const made = watched({
  applicationId: 1,
  applicationHash: Redacted.make("0".repeat(32)),
  dataCentre: { id: 1, ipAddress: "127.0.0.1", port: 1 },
  publicKeys: [PUBLIC_KEY],
  version: "1"
}, {
  url: Redacted.make(DATABASE),
  peppers: Redacted.make(PEPPERS),
  checkpointKeys: Redacted.make(CHECKPOINT_KEYS),
  csrfKeys: Redacted.make(CSRF_KEYS)
})
await Effect.runPromise(Effect.scoped(Layer.build(made)))
console.log(JSON.stringify({ made: true }))
`,
  client: `
const { ADDRESS = "", KEY = "", ACCOUNT = "" } = process.env
console.log(JSON.stringify(await Effect.runPromise(pause(ADDRESS, KEY, ACCOUNT))))
`
}

describe("the examples of embedding", () => {
  const folder = path.join(root, `.readme-${process.pid}`)

  beforeAll(() => {
    fs.mkdirSync(folder)
    for (const [kind, more] of Object.entries(endings)) writeExample(folder, kind, more)
    return () => fs.rmSync(folder, { recursive: true })
  })

  it("are each a program that compiles over the package, also where its own declarations are written", async () => {
    const installed = path.join(folder, "node_modules", manifest.name)
    fs.mkdirSync(installed, { recursive: true })
    fs.copyFileSync(path.join(root, "package.json"), path.join(installed, "package.json"))
    // A build has made them already, if there was one of these sources.
    const { findDeclarations }: { readonly findDeclarations: () => string } = await import(keeper)
    const declarations = findDeclarations()
    if (!fs.existsSync(declarations)) {
      const draft = path.join(folder, "declarations")
      const build = ["-p", path.join(root, "tsconfig.build.json"), "--emitDeclarationOnly", "--outDir", draft]
      expect(compile(build)).toEqual([0, ""])
      fs.mkdirSync(path.dirname(declarations), { recursive: true })
      fs.renameSync(draft, declarations)
    }
    fs.cpSync(declarations, path.join(installed, "dist"), { recursive: true })
    // Programs of one folder, since the compiler takes seconds to read the package for each that it is started for.
    const programs = path.join(folder, "programs")
    fs.mkdirSync(programs)
    for (const kind of Object.keys(endings)) {
      // Everything that it makes is exported, so that the compiler has to name its type.
      const code = block(`ts ${kind}`).replaceAll(/^const /gm, "export const ")
      fs.writeFileSync(path.join(programs, `${kind}.ts`), code)
    }
    fs.writeFileSync(
      path.join(programs, "tsconfig.json"),
      JSON.stringify({
        extends: "../../tsconfig.json",
        compilerOptions: { declaration: true, lib: ["ES2024", "DOM"] },
        include: ["*.ts"]
      })
    )
    expect(compile(["-p", programs])).toEqual([0, ""])
  }, 180_000)

  it.live(
    "run an operation, the service in another server, a layer of the host's own, the messenger's protocol and a client",
    () =>
      Effect.gen(function*() {
        const cwd = freshDirectory()
        const data = path.join(cwd, "data")
        fillDirectory(data)
        fs.copyFileSync(path.join(root, "seeds/demo.json"), path.join(cwd, "seed.json"))
        const seeded = { created: ["demo"], keys: expect.any(Number) }
        const none = { object: "list", data: [], has_more: false }
        expect(execute(folder, ["seed", "embed"], cwd)).toEqual([seeded, expect.objectContaining(none)])
        // It has closed what it opened: the directory is free for a command.
        const mounted = yield* Effect.promise(() => createKey(data))
        const { account, address, key } = yield* Effect.promise(async () => {
          const { address, stdout } = await serve(["--demo", "--data", dataDirectory()])
          const [key = ""] = await shownKeys({ stdout })
          const { data: [paused] } = (await ask(address, key, "GET", "/v1/accounts?status=paused")).body
          return { account: paused.id, address, key }
        })
        const said = execute(folder, ["embed", "mount", "replace", "wire", "client"], cwd, {
          MOUNTED: mounted,
          DATABASE: yield* postgresUrl,
          PEPPERS: World.peppers,
          CHECKPOINT_KEYS: World.checkpointKeys,
          CSRF_KEYS: World.csrfKeys,
          PUBLIC_KEY: makeIdentity().publicKey,
          ADDRESS: address,
          KEY: key,
          ACCOUNT: account
        })
        expect(said).toMatchObject([
          // It finds the organization that it has made.
          { object: "list", data: [] },
          { alive: 200, status: 200, body: { object: "organization", id: "acme" }, tools: true },
          { failure: true },
          { made: true },
          "it is paused or offboarded already"
        ])
      }),
    180_000
  )
})

describe("the page of the configuration", () => {
  it("has the table of settings that the command prints", async () => {
    expect(configuration).toContain(`\n${await doneInProcess(["settings"])}`)
  })

  it("names every command, and only those that there are", async () => {
    const helps = new Map<string, ReadonlyArray<string>>()
    const subcommands = async (words: ReadonlyArray<string>) => {
      const help = await doneInProcess([...words, "--help"])
      const [, list = ""] = help.split("SUBCOMMANDS\n")
      return [...list.matchAll(/^ {2}([\w-]+) {2,}\S/gm)].map(([, name = ""]) => name)
    }
    const groups = await subcommands([])
    const nested = await Promise.all(groups.map((name) => subcommands([name])))
    for (const [at, name] of groups.entries()) helps.set(name, nested[at] ?? [])
    const table = configuration.slice(
      configuration.indexOf("## Commands"),
      configuration.indexOf("What a command changes")
    )
    const documented = new Set<string>()
    for (const [, cell = ""] of table.matchAll(/^\| (`.*?) \|/gm)) {
      let group = ""
      for (const [, words = ""] of cell.matchAll(/`([^`]+)`/g)) {
        const [first = "", second] = words.split(" ")
        if (second !== undefined) group = first
        documented.add(second === undefined && helps.get(group)?.includes(first) === true ? `${group} ${first}` : words)
      }
    }
    const real = [...helps].flatMap(([name, nested]) =>
      nested.length === 0 ? [name] : nested.map((each) => `${name} ${each}`)
    )
    expect([...documented].toSorted()).toEqual(real.toSorted())
    for (
      const [, words = ""] of `${Pages.read("README.md")}${Pages.read("docs/getting-started.md")}${configuration}`
        .matchAll(
          /(?:npm run cli -- |^security-console )(\w[^\n<>`]*)/gm
        )
    ) {
      const [first = "", second = ""] = words.split(" ")
      expect(real).toContain(helps.get(first)?.length === 0 ? first : `${first} ${second}`)
    }
    const named = Pages.documents.flatMap((page) =>
      [...Pages.read(page).matchAll(/`(?:security-console )?([\w-]+) ([\w-]+)[^`]*`/g)].map((found) => [...found, page])
    )
    expect(
      named.filter(([, first = "", second = ""]) =>
        (helps.get(first)?.length ?? 0) > 0 && !real.includes(`${first} ${second}`)
      )
    ).toEqual([])
  }, 180_000)
})
