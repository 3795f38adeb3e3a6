/**
 * Which modules import what, row by row: the table of docs/architecture.md, as examples that the linter refuses or
 * accepts.
 */

const foreign = ["@effect/platform-node", "@effect/sql-pg", "node:fs", "canonicalize", "org-security-console/http"]
const unstable = ["effect/http", "effect/http/HttpServerResponse", "effect/ai", "effect/sql", "effectful"]

/** A file of each module, from a file so many folders below src, directly and by a detour. */
const modules = (names: ReadonlyArray<string>, depth = 1) => [
  ...names.map((name) => `${"../".repeat(depth)}${name}/Module.ts`),
  `./${"../".repeat(depth)}${names[0]}/Module.ts`,
  `${"../".repeat(depth + 1)}src/${names[0]}/Module.ts`
]

export interface Row {
  readonly from: string
  readonly refused: ReadonlyArray<string>
  readonly accepted: ReadonlyArray<string>
}

const aboveHttp = ["engine", "messenger", "layers", "administration", "cli"]
const aboveOperations = ["console", "oauth", "edge", "http", "mcp", ...aboveHttp]
const aboveKernel = ["operations", ...aboveOperations]
const abovePorts = ["kernel", ...aboveKernel]
/** The modules that one which needs only ports and domain must not import, except those named. */
const but = (...accepted: ReadonlyArray<string>) => abovePorts.filter((name) => !accepted.includes(name))

export const rows: ReadonlyArray<Row> = [
  {
    from: "domain",
    refused: [...modules(["ports", ...abovePorts]), "../index.ts", "effect/http-api", ...unstable, ...foreign],
    accepted: ["effect", "effect/Schema", "./Account.ts"]
  },
  {
    from: "ports",
    refused: [...modules(abovePorts), "../index.ts", "effect/http-api", ...unstable, ...foreign],
    accepted: ["effect", "effect/Schema", "./Journal.ts", "../domain/Account.ts"]
  },
  {
    from: "kernel",
    refused: [...modules(aboveKernel), "../operations/index.ts", "../index.ts", ...unstable, ...foreign],
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
    refused: [...modules(aboveKernel, 2), "../../index.ts", ...unstable, ...foreign],
    accepted: ["effect", "../Journaling.ts", "../../ports/Journal.ts", "../../domain/Account.ts"]
  },
  {
    from: "operations/index.ts",
    refused: [...modules(aboveOperations), "../index.ts", "effect/http-api", ...unstable, ...foreign],
    accepted: ["./accounts/pause_protection.ts", "../kernel/Operation.ts"]
  },
  {
    from: "operations/accounts",
    refused: [
      ...modules(aboveOperations, 2),
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
      ...modules(but("console")),
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
      ...modules(but("engine")),
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
      ...modules(but("administration")),
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
      ...modules(but("console", "oauth")),
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
      ...modules(but("console", "oauth"), 2),
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
      ...modules(["console", "oauth", "http", "mcp", ...aboveHttp]),
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
      ...modules(["mcp", ...aboveHttp]),
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
    refused: [...modules(["mcp", ...aboveHttp], 2), "../../index.ts"],
    accepted: ["../Api.ts", "../../edge/Bearer.ts"]
  },
  {
    from: "mcp",
    refused: [
      ...modules(["http", "console", ...aboveHttp]),
      "../index.ts",
      "org-security-console/http"
    ],
    accepted: ["effect/ai", "../edge/Bearer.ts", "../operations/index.ts", "../oauth/Grant.ts", "../domain/Account.ts"]
  },
  {
    from: "layers",
    refused: [
      ...modules(but("console", "oauth", "engine", "layers")),
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
      ...modules(but("console", "oauth", "engine", "layers"), 2),
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
      ...modules(but("engine", "messenger", "layers")),
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
    refused: [
      ...modules(["kernel", "operations", "http", "cli"]),
      "../engine/Engine.ts",
      "@effect/platform-node",
      "pg"
    ],
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
