import { describe, expect, it } from "@effect/vitest"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Settings from "../../src/cli/Settings.ts"

const root = path.join(import.meta.dirname, "../..")
const read = (file: string) => fs.readFileSync(path.join(root, file), "utf8")

const table = Settings.markdown()
const flags = new Set(table.match(/`--[a-z-]+`/g)?.map((flag) => flag.slice(1, -1)))
const variables = new Set(table.match(/`CONSOLE_[A-Z_]+`/g)?.map((name) => name.slice(1, -1)))

/** What a file for an operator names of the service's settings. */
const named = (text: string) => ({
  flags: [...new Set(text.match(/(?<= )--[a-z-]+/g))].filter((flag) => !foreign.has(flag)),
  variables: [...new Set(text.match(/CONSOLE_[A-Z_]+/g))]
})

/** Flags of other programs that the files name. */
const foreign = new Set([
  "--ignore-scripts",
  "--pack-destination",
  "--omit",
  "--from",
  "--chown",
  "--strip-components",
  "--interval",
  "--timeout",
  "--start-period",
  "--retries"
])

/** What a table of the document for operators names in its first column. */
const rows = (title: string) => {
  const [, section = ""] = new RegExp(`^## ${title}\n([^]*?)(?=^## |$(?![^]))`, "m").exec(read("docs/operations.md")) ??
    []
  return [...section.matchAll(/^\| `([a-z0-9_]+)` \|/gm)].map(([, name = ""]) => name)
}

const unit = read("deploy/security-console.service")
const container = read("deploy/Containerfile")

describe("what deploys the service", () => {
  it.each(["security-console.service", "environment.example", "Containerfile"])(
    "%s names settings that there are",
    (file) => {
      const { flags: usedFlags, variables: used } = named(read(`deploy/${file}`))
      expect(used.length).toBeGreaterThan(2)
      expect(used.filter((name) => !variables.has(name))).toEqual([])
      expect(usedFlags.filter((flag) => !flags.has(flag))).toEqual([])
    }
  )

  it("starts the command of the package, as the unit and as the container", () => {
    const { bin, name } = JSON.parse(read("package.json"))
    const [, command] = /^ExecStart=(.*)$/m.exec(unit) ?? []
    expect(command).toContain(`node_modules/${name}/${bin["security-console"]} serve`)
    expect(container).toContain(`ENTRYPOINT ["node", "/app/${bin["security-console"]}"]\nCMD ["serve"]`)
    expect(container).toMatch(/^HEALTHCHECK [^]*\/readyz/m)
  })

  it("hands the unit each secret in a file, and none in the environment", () => {
    const loaded = [...unit.matchAll(/^LoadCredential=([a-z-]+):/gm)].map(([, name]) => name)
    const files = [...unit.matchAll(/^Environment=(CONSOLE_[A-Z_]+)_FILE=%d\/([a-z-]+)$/gm)]
    expect(files.map(([, , name]) => name)).toEqual(loaded)
    for (const [, variable = ""] of files) expect(variables).toContain(`${variable}_FILE`)
    expect(read("deploy/environment.example")).not.toMatch(/PEPPERS|CSRF|DATABASE_URL/)
  })

  it("runs the container as a user of its own, on the version of Node that the package is tried on", () => {
    const { devDependencies } = JSON.parse(read("package.json"))
    const images = [...container.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)
    expect(new Set(images)).toEqual(new Set([`node:${devDependencies.node.split(".")[0]}-bookworm-slim`]))
    expect(container).toMatch(/^USER node$/m)
  })
})

describe("the document for operators", () => {
  it("names settings that there are", () => {
    expect(named(read("docs/operations.md")).variables.filter((name) => !variables.has(name))).toEqual([])
  })

  it("has a row for every metric, and only for those that there are", () => {
    const sources = [
      "src/edge/Metrics.ts",
      "src/layers/sql/Outage.ts",
      "src/layers/sql/PoolUsage.ts",
      "src/cli/Monitoring.ts"
    ]
    const made = sources.flatMap((file) => read(file).match(/(?<=")(?:console|process|nodejs)_[a-z0-9_]+(?=")/g) ?? [])
    expect(rows("Metrics").sort()).toEqual(made.sort())
  })

  it("has a row for every field of a request's line", () => {
    const source = read("src/edge/Observation.ts")
    const [, object = ""] = /^const fields = [^]*?\({\n([^]*?)^}\)/m.exec(source) ?? []
    const fields = object.split("\n").map((line) => /^ {2}([a-z_]+)/.exec(line)?.[1]).filter((name) =>
      name !== undefined
    )
    expect(rows("The log")).toEqual([...fields, "duration_ms"])
  })
})
