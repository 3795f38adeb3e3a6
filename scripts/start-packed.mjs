import { execFileSync, spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"

const [tarball] = process.argv.slice(2)
const { name, peerDependencies } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
const folder = mkdtempSync(join(tmpdir(), "packed-"))
const deadline = 120_000

/** The address and the keys that a started service prints. */
const printed = (output) => ({
  address: /Listening on (http:\/\/\S+)/.exec(output)?.[1],
  keys: [...new Set(output.match(/\b\w+_live_[\w.-]+/g))]
})

const expectTrue = (truth, what) => {
  if (!truth) throw new Error(what)
  console.log(`ok: ${what}`)
}

const install = (...packages) =>
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", ...packages], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"]
  })

const command = join(folder, "node_modules/.bin/security-console")
const env = { ...process.env, PATH: [resolve(process.execPath, ".."), process.env.PATH].join(delimiter) }

/** The program of docs/embedding.md that embeds the core, and prints what it found. */
const embedding = () => {
  const page = readFileSync(new URL("../docs/embedding.md", import.meta.url), "utf8")
  const [, code] = /^```ts embed\n([^]*?)^```$/m.exec(page) ?? []
  return `${code}\nconsole.log(JSON.stringify(page))\n`
}

const start = () => {
  const child = spawn(command, ["serve", "--demo", "--port", "0", "--data", join(folder, "data")], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"]
  })
  let output = ""
  let ended = false
  const exited = new Promise((done, failed) => {
    child.once("error", failed)
    child.once("exit", (code, signal) => {
      ended = true
      done(signal ?? code)
    })
  })
  const ready = new Promise((done, failed) => {
    const look = (chunk) => {
      output += chunk
      const { address, keys } = printed(output)
      if (address !== undefined && keys.length > 0) done({ address, keys })
    }
    child.stdout.setEncoding("utf8").on("data", look)
    child.stderr.setEncoding("utf8").on("data", (chunk) => {
      output += chunk
    })
    exited.then((how) => failed(new Error(`The service ended with ${how}:\n${output}`)), failed)
    setTimeout(() => failed(new Error(`No address and key within ${deadline} ms:\n${output}`)), deadline).unref()
  })
  return { child, exited, ready, ended: () => ended }
}

/**
 * Imports every entry, and writes a program that declares each of its exports, and the members of each service, as its
 * own: it compiles only where every type in them can be named.
 */
const library = `
import * as core from "${name}"
import * as http from "${name}/http"
import * as layers from "${name}/layers"
import * as client from "${name}/client"
import * as mcp from "${name}/mcp"
import * as messenger from "${name}/messenger"
import { writeFileSync } from "node:fs"
const entries = { core, http, layers, mcp, messenger, client }
const values = Object.entries(entries).flatMap(([entry, module]) =>
  Object.entries(module).flatMap(([key, value]) =>
    value?.[Symbol.toStringTag] === "Module"
      ? Object.entries(value).map(([member, inner]) => [[entry, key, member], inner])
      : [[[entry, key], value]]
  )
)
for (const entry of Object.keys(entries)) {
  if (!values.some(([[of]]) => of === entry)) throw new Error(entry + " exports nothing")
}
const isService = (value) =>
  typeof value === "function" && typeof value.key === "string" && !("ast" in value) && !("defaultValue" in value)
const declared = values.flatMap(([path, value]) => [
  "export const " + path.join("_") + " = " + path.join("."),
  ...(isService(value)
    ? ["export const of_" + path.join("_") + " = (service: Of<typeof " + path.join(".") + ">) => ({ ...service })"]
    : [])
])
writeFileSync("exports.ts", [
  'import type { Context } from "effect"',
  ...Object.keys(entries).map((entry) =>
    "import * as " + entry + ' from "' + (entry === "core" ? "${name}" : "${name}/" + entry) + '"'
  ),
  "type Of<K> = K extends Context.Key<infer _, infer S> ? S : never",
  ...declared
].join("\\n"))
await import("${name}/dist/operations/index.js").then(() => {
  throw new Error("an internal module can be imported")
}, () => {})
`

/**
 * A program of a user's: each export has a type, and none is `any`, which a broken declaration would make it. Every service
 * that the app and the tools need can be named, so that the program's own declarations can be written.
 */
const types = `
import type * as client from "${name}/client"
import type * as core from "${name}"
import * as http from "${name}/http"
import * as layers from "${name}/layers"
import * as mcp from "${name}/mcp"
import * as messenger from "${name}/messenger"
import type { Context } from "effect"
import type { SecureRandom } from "effect/crypto"
type Untyped<M> = { [K in keyof M]: 0 extends 1 & M[K] ? K : never }[keyof M]
export const untyped: [
  Untyped<typeof core>,
  Untyped<typeof http>,
  Untyped<typeof layers>,
  Untyped<typeof mcp>,
  Untyped<typeof messenger>,
  Untyped<typeof client>
] extends [never, never, never, never, never, never] ? true : false = true
type Services<M> = { [K in keyof M]: M[K] extends Context.Key<infer I, infer _> ? I : never }[keyof M]
type Named =
  | Services<typeof core.AdminSignIn>
  | Services<typeof core.ConsoleSessions>
  | Services<typeof core.ForgottenPasswords>
  | Services<typeof core.Invitations>
  | Services<typeof core.ProviderSignIn>
  | Services<typeof core.SecondFactors>
  | Services<typeof core.SignIns>
  | Services<typeof core.OAuth>
  | Services<typeof core.Ports>
  | Services<typeof http.Site>
  | SecureRandom.SecureRandom
export const unnamed: [Exclude<http.App.Services | mcp.Handler.Services, Named>] extends [never] ? true : false = true
export const app = http.App.make
export const tools = mcp.Handler.make
export const memory = layers.Console.layerMemory
export const embedded = layers.Console.layerEmbedded
export const postgres = layers.Console.layerPostgres
`

let service
try {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
  writeFileSync(join(folder, "library.js"), library)
  install(resolve(tarball), `effect@${peerDependencies.effect}`)
  const without = ["", "/http", "/layers", "/client", "/mcp"].map((entry) => `await import("${name}${entry}")`).join(
    "\n"
  )
  execFileSync(process.execPath, ["--input-type=module", "--eval", without], { cwd: folder, stdio: "inherit" })
  expectTrue(true, "the packed library is imported without its optional peers, but for the messenger")
  const unused = ["redis", "@redis", "undici", "@effect/platform-node"]
  expectTrue(
    unused.every((each) => !existsSync(join(folder, "node_modules", each))),
    "the packed library brings no client of Redis and no second HTTP client"
  )
  install(...Object.entries(peerDependencies).map(([peer, version]) => `${peer}@${version}`))
  execFileSync(process.execPath, ["library.js"], { cwd: folder, stdio: "inherit" })
  expectTrue(true, "the packed library is imported by its exports alone")
  writeFileSync(join(folder, "types.ts"), types)
  // The messenger's library names a type of another runtime.
  writeFileSync(join(folder, "deno.d.ts"), "declare namespace Deno { interface FsFile {} }\n")
  execFileSync(fileURLToPath(new URL("../node_modules/.bin/tsc", import.meta.url)), [
    "--declaration",
    "--emitDeclarationOnly",
    "--outDir",
    "types",
    "--strict",
    "--exactOptionalPropertyTypes",
    "--module",
    "nodenext",
    "--target",
    "es2024",
    "--typeRoots",
    fileURLToPath(new URL("../node_modules/@types", import.meta.url)),
    "--types",
    "node",
    "deno.d.ts",
    "types.ts",
    "exports.ts"
  ], { cwd: folder, stdio: "inherit" })
  expectTrue(true, "the packed declarations type every export, and a program can declare each of them as its own")

  const help = execFileSync("npx", ["--no", "security-console", "bridge", "--help"], {
    cwd: folder,
    env,
    encoding: "utf8"
  })
  expectTrue(help.includes("--sign-in"), "npx starts the packed bridge")

  service = start()
  const { address, keys } = await service.ready
  const ask = (headers) => fetch(new URL("/v1/organization", address), { headers, signal: AbortSignal.timeout(30_000) })
  const answer = await ask({ authorization: `Bearer ${keys[0]}` })
  expectTrue(
    answer.status === 200 && (await answer.json()).object === "organization",
    "the printed key reads the organization"
  )
  const refused = await ask({ authorization: `Bearer ${keys[0]}x` })
  expectTrue(refused.status === 401, "another key is refused")

  service.child.kill("SIGTERM")
  expectTrue(await service.exited === 0, "the service ends with 0 after SIGTERM")

  const installed = join(folder, "node_modules", name)
  const carried = [
    "openapi.json",
    "seeds/demo.json",
    "seeds/seed.schema.json",
    "CHANGELOG.md",
    "README.md",
    "LICENSE",
    "sbom.cdx.json"
  ]
  expectTrue(carried.every((file) => existsSync(join(installed, file))), "the package carries its documents")
  writeFileSync(join(folder, "embed.ts"), embedding())
  const page = JSON.parse(execFileSync(process.execPath, ["embed.ts"], { cwd: folder, encoding: "utf8" }))
  expectTrue(page.object === "list" && page.data.length === 0, "the program of the document embeds the package")
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  if (service !== undefined && !service.ended()) service.child.kill("SIGKILL")
  rmSync(folder, { recursive: true, force: true })
}
