import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { root } from "./house.ts"

const foreign = ["@effect/platform-node", "@effect/sql-pg", "node:fs", "canonicalize", "org-security-console/http"]
const unstable = ["effect/http", "effect/http/HttpServerResponse", "effect/ai", "effect/sql", "effectful"]

/** A module of each room, from a file so many folders below src, directly and by a detour. */
const rooms = (names: ReadonlyArray<string>, depth = 1) => [
  ...names.map((name) => `${"../".repeat(depth)}${name}/Module.ts`),
  `./${"../".repeat(depth)}${names[0]}/Module.ts`,
  `${"../".repeat(depth + 1)}src/${names[0]}/Module.ts`
]

interface Row {
  readonly from: string
  readonly refused: ReadonlyArray<string>
  readonly accepted: ReadonlyArray<string>
}

const aboveHttp = ["engine", "messenger", "layers", "administration", "cli"]
const aboveOperations = ["console", "oauth", "edge", "http", "mcp", ...aboveHttp]
const aboveKernel = ["operations", ...aboveOperations]
const abovePorts = ["kernel", ...aboveKernel]
/** The modules that one which needs only ports and domain must not import, but for those it is told of. */
const but = (...accepted: ReadonlyArray<string>) => abovePorts.filter((name) => !accepted.includes(name))

const rows: ReadonlyArray<Row> = [
  {
    from: "domain",
    refused: [...rooms(["ports", ...abovePorts]), "../index.ts", "effect/http-api", ...unstable, ...foreign],
    accepted: ["effect", "effect/Schema", "./Account.ts"]
  },
  {
    from: "ports",
    refused: [...rooms(abovePorts), "../index.ts", "effect/http-api", ...unstable, ...foreign],
    accepted: ["effect", "effect/Schema", "./Journal.ts", "../domain/Account.ts"]
  },
  {
    from: "kernel",
    refused: [...rooms(aboveKernel), "../operations/index.ts", "../index.ts", ...unstable, ...foreign],
    accepted: [
      "effect",
      "effect/http-api",
      "effect/http-api/HttpApiEndpoint",
      "./Journaling.ts",
      "./runners/Read.ts",
      "../ports/Journal.ts",
      "../domain/Account.ts"
    ]
  },
  {
    from: "kernel/runners",
    refused: [...rooms(aboveKernel, 2), "../../index.ts", ...unstable, ...foreign],
    accepted: ["effect", "../Journaling.ts", "../../ports/Journal.ts", "../../domain/Account.ts"]
  },
  {
    from: "operations/index.ts",
    refused: [...rooms(aboveOperations), "../index.ts", "effect/http-api", ...unstable, ...foreign],
    accepted: ["./accounts/pause_protection.ts", "../kernel/Operation.ts"]
  },
  {
    from: "operations/accounts",
    refused: [
      ...rooms(aboveOperations, 2),
      "./pause_protection.ts",
      "../organization/get_organization.ts",
      "../organization/Shared.ts",
      "../../operations/organization/get_organization.ts",
      "../index.ts",
      "../../index.ts",
      "effect/http-api",
      ...unstable,
      ...foreign
    ],
    accepted: [
      "effect",
      "./Profile.ts",
      "./pause_protection.sample.ts",
      "../../kernel/Operation.ts",
      "../../ports/Journal.ts",
      "../../domain/Account.ts"
    ]
  },
  {
    from: "console",
    refused: [
      ...rooms(but("console")),
      "../operations/accounts/pause_protection.ts",
      "../operations/index.ts",
      "../index.ts",
      "effect/http-api",
      ...unstable,
      ...foreign
    ],
    accepted: ["effect", "./ConsoleSessions.ts", "../ports/Journal.ts", "../domain/Account.ts"]
  },
  {
    from: "engine",
    refused: [
      ...rooms(but("engine")),
      "../index.ts",
      "effect/http-api",
      ...unstable,
      ...foreign
    ],
    accepted: ["effect", "./Job.ts", "../ports/Journal.ts", "../domain/Account.ts"]
  },
  {
    from: "administration",
    refused: [
      ...rooms(but("administration")),
      "../operations/accounts/pause_protection.ts",
      "../index.ts",
      "effect/http-api",
      ...unstable,
      ...foreign
    ],
    accepted: ["effect", "./Admins.ts", "../ports/Journal.ts", "../domain/Account.ts"]
  },
  {
    from: "oauth",
    refused: [
      ...rooms(but("console", "oauth")),
      "../operations/accounts/pause_protection.ts",
      "../operations/index.ts",
      "../index.ts",
      "effect/http-api",
      ...unstable,
      ...foreign
    ],
    accepted: ["effect", "./Grant.ts", "../console/Session.ts", "../ports/Journal.ts", "../domain/Account.ts"]
  },
  {
    from: "oauth/token",
    refused: [
      ...rooms(but("console", "oauth"), 2),
      "../../operations/accounts/pause_protection.ts",
      "../../operations/index.ts",
      ...unstable,
      ...foreign
    ],
    accepted: ["effect", "./issue.ts", "../Ports.ts", "../../ports/Journal.ts", "../../domain/Account.ts"]
  },
  {
    from: "edge",
    refused: [
      ...rooms(["console", "oauth", "http", "mcp", ...aboveHttp]),
      "../index.ts",
      "@effect/platform-node",
      "node:fs",
      "org-security-console/http"
    ],
    accepted: [
      "effect",
      "../operations/index.ts",
      "../kernel/Operation.ts",
      "../ports/Journal.ts",
      "../domain/Account.ts"
    ]
  },
  {
    from: "http",
    refused: [
      ...rooms(["mcp", ...aboveHttp]),
      "../layers/sql/Database.ts",
      "../index.ts",
      "org-security-console/mcp"
    ],
    accepted: [
      "effect/http",
      "../edge/Bearer.ts",
      "../operations/index.ts",
      "../oauth/Grant.ts",
      "../domain/Account.ts"
    ]
  },
  {
    from: "http/pages",
    refused: [...rooms(["mcp", ...aboveHttp], 2), "../../index.ts"],
    accepted: ["../Api.ts", "../../edge/Bearer.ts"]
  },
  {
    from: "mcp",
    refused: [
      ...rooms(["http", "console", ...aboveHttp]),
      "../index.ts",
      "org-security-console/http"
    ],
    accepted: ["effect/ai", "../edge/Bearer.ts", "../operations/index.ts", "../oauth/Grant.ts", "../domain/Account.ts"]
  },
  {
    from: "layers",
    refused: [
      ...rooms(but("console", "oauth", "engine", "layers")),
      "../oauth/token/refreshToken.ts",
      "../index.ts",
      "org-security-console/http"
    ],
    accepted: [
      "../engine/Background.ts",
      "effect/sql",
      "@effect/sql-pg",
      "node:fs",
      "../ports/Journal.ts",
      "../oauth/Ports.ts",
      "../domain/Account.ts"
    ]
  },
  {
    from: "layers/sql",
    refused: [
      ...rooms(but("console", "oauth", "engine", "layers"), 2),
      "../../oauth/authorize/Authorize.ts",
      "../../operations/index.ts",
      "../../operations/accounts/pause_protection.ts",
      "../../index.ts"
    ],
    accepted: [
      "../messenger/Simulation.ts",
      "../../ports/Journal.ts",
      "../../oauth/Ports.ts",
      "../../domain/Account.ts"
    ]
  },
  {
    from: "messenger",
    refused: [
      ...rooms(but("engine", "messenger", "layers")),
      "../engine/Engine.ts",
      "../layers/Console.ts",
      "../layers/memory/RateLimiter.ts",
      "../layers/mail/MailSettings.ts",
      "../layers/sql/Database.ts",
      "../layers/messenger/Simulated.ts",
      "../index.ts",
      "effect/http-api",
      ...unstable,
      "@mtcute/core",
      "@effect/platform-node",
      "canonicalize",
      "org-security-console/http"
    ],
    accepted: [
      "effect",
      "node:net",
      "../ports/MessengerSession.ts",
      "../domain/Messenger.ts",
      "../engine/Ownership.ts",
      "../layers/Instant.ts",
      "../layers/messenger/LiveSessions.ts"
    ]
  },
  {
    from: "messenger/Protocol.ts",
    refused: [...rooms(["kernel", "operations", "http", "cli"]), "../engine/Engine.ts", "@effect/platform-node", "pg"],
    accepted: ["@mtcute/core", "@fuman/node", "node:crypto", "../domain/Messenger.ts"]
  },
  {
    from: "cli",
    refused: [],
    accepted: [
      "node:fs",
      "../domain/Account.ts",
      "../operations/index.ts",
      "../oauth/Grant.ts",
      "../edge/Bearer.ts",
      "../http/Api.ts",
      "../mcp/Tools.ts",
      "../messenger/index.ts",
      "../layers/index.ts"
    ]
  }
]

/** What rooms that stay deterministic and typed must not write, and where it is accepted. */
const ambient = [
  "export const a = Date.now()",
  "export const b = Math.random()",
  "export const c = process.env",
  "export const d = performance.now()",
  "export const e = crypto.randomUUID()"
]
const untyped = [
  "export const f: any = 1",
  "export const g = a as unknown",
  "export const h = <unknown>a",
  "export const i = a!"
]
const deterministic = [
  "domain",
  "ports",
  "kernel",
  "kernel/runners",
  "operations",
  "operations/accounts",
  "console",
  "engine",
  "administration",
  "oauth",
  "edge",
  "http",
  "mcp",
  "messenger"
]

interface Diagnostic {
  readonly code: string
  readonly filename: string
  readonly labels: ReadonlyArray<{ readonly span: { readonly line: number } }>
}

const temporary = mkdtempSync(join(tmpdir(), "rooms-"))
afterAll(() => rmSync(temporary, { recursive: true }))

cpSync(`${root}.oxlintrc.json`, join(temporary, ".oxlintrc.json"))
cpSync(`${root}src`, join(temporary, "src"), { recursive: true })

/** What the linter says of the copy about the house's rules, each as `code file:line`. */
const lint = (): ReadonlyArray<string> => {
  const { stdout } = spawnSync(process.execPath, [`${root}node_modules/oxlint/bin/oxlint`, "--format=json", "src"], {
    cwd: temporary,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024
  })
  const report: { readonly diagnostics: ReadonlyArray<Diagnostic>; readonly number_of_files: number } = JSON.parse(
    stdout
  )
  expect(report.number_of_files).toBeGreaterThan(0)
  const codes = /no-(?:restricted-(?:imports|properties)|cycle|explicit-any|non-null-assertion)|type-assertions/
  return report.diagnostics.filter(({ code }) => codes.test(code))
    .map(({ code, filename, labels }) => `${code} ${filename}:${labels[0]?.span.line}`)
}

const plant = (file: string, lines: ReadonlyArray<string>) => {
  mkdirSync(dirname(join(temporary, file)), { recursive: true })
  writeFileSync(join(temporary, file), lines.join("\n"))
}

const plantedFile = ({ from }: Row) => from.endsWith(".ts") ? `src/${from}` : `src/${from}/Planted.ts`

describe("the rooms", () => {
  const untouched = lint()
  for (const row of rows) {
    plant(
      plantedFile(row),
      [...row.refused, ...row.accepted].map((specifier, at) => `import { a${at} } from "${specifier}"`)
    )
  }
  for (const room of [...deterministic, "layers", "administration", "cli"]) {
    plant(`src/${room}/Words.ts`, [...ambient, ...untyped])
  }
  plant("src/domain/CycleA.ts", ["import { b } from \"./CycleB.ts\"", "export const a = () => b"])
  plant("src/domain/CycleB.ts", ["import { a } from \"./CycleA.ts\"", "export const b = () => a"])
  const planted = new Set(lint())
  const isRefused = (row: Row, at: number) => planted.has(`eslint(no-restricted-imports) ${plantedFile(row)}:${at + 1}`)

  it("import nothing that they must not", () => {
    expect(untouched).toEqual([])
  })

  for (const row of rows) {
    row.refused.forEach((specifier, at) =>
      it(`refuse ${specifier} in ${row.from}`, () => {
        expect(isRefused(row, at)).toBe(true)
      })
    )
    row.accepted.forEach((specifier, at) =>
      it(`accept ${specifier} in ${row.from}`, () => {
        expect(isRefused(row, row.refused.length + at)).toBe(false)
      })
    )
  }

  const linesOf = (file: string) =>
    new Set([...planted].flatMap((line) => line.includes(` ${file}:`) ? [Number(line.split(":").at(-1))] : []))
  const numbered = (from: number, lines: ReadonlyArray<string>) => new Set(lines.map((_, at) => from + at))

  for (const room of deterministic) {
    it(`refuse ambient time, randomness and settings, any, casts and non-null assertions in ${room}`, () => {
      expect(linesOf(`src/${room}/Words.ts`)).toEqual(numbered(1, [...ambient, ...untyped]))
    })
  }
  for (const room of ["layers", "cli"]) {
    it(`refuse any, casts and non-null assertions in ${room}`, () => {
      expect(linesOf(`src/${room}/Words.ts`)).toEqual(numbered(ambient.length + 1, untyped))
    })
  }

  it("refuse a circle of imports", () => {
    expect(planted).toContain("import(no-cycle) src/domain/CycleA.ts:1")
  })
})
