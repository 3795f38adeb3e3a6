/** Imports that the linter refuses or accepts, module by module. The table that it holds is not read here. */

const foreign = ["@effect/platform-node", "@effect/sql-pg", "node:fs", "canonicalize", "org-security-console/http"]
const unstable = ["effect/http", "effect/http/HttpServerResponse", "effect/ai", "effect/sql", "effectful"]
const impure = ["effect/http-api", ...unstable, ...foreign]

export interface Row {
  /** A file, or a folder in which one is planted. */
  readonly from: string
  /** Files below `src` that it must not import. */
  readonly refused: ReadonlyArray<string>
  /** Packages that it must not import. */
  readonly packages: ReadonlyArray<string>
  /** Files below `src` and packages that it may import. */
  readonly accepted: ReadonlyArray<string>
}

/** A file of each module, in an area where the module has areas. */
const inModule = {
  domain: "domain/accounts/Account.ts",
  ports: "ports/journal/Journal.ts",
  messenger: "messenger/LoginCalls.ts",
  changes: "changes/Append.ts",
  kernel: "kernel/Operation.ts",
  signin: "signin/SecretReveals.ts",
  oauth: "oauth/token/Token.ts",
  protection: "protection/Step.ts",
  operator: "operator/people/Admins.ts",
  operations: "operations/accounts/pause_protection.ts",
  jobs: "jobs/Job.ts",
  transport: "transport/Site.ts",
  http: "http/pages/kit/Html.ts",
  mcp: "mcp/Tools.ts",
  layers: "layers/postgres/Tenant.ts",
  wire: "layers/messenger/wire/index.ts",
  composed: "layers/Console.ts",
  cli: "cli/process/Demo.ts"
}
type Module = keyof typeof inModule

/** A row of a module that may import the modules named, and none of the others. */
const row = (
  from: string,
  allowed: ReadonlyArray<Module>,
  packages: ReadonlyArray<string>,
  accepted: ReadonlyArray<string>
): Row => ({
  from,
  refused: Object.entries(inModule).flatMap(([module, file]) => allowed.some((name) => name === module) ? [] : [file]),
  packages,
  accepted: [...allowed.map((module) => inModule[module]), ...accepted]
})

const base: ReadonlyArray<Module> = ["ports", "domain"]

export const rows: ReadonlyArray<Row> = [
  row("domain/organization", ["domain"], [...impure, "libphonenumber-js", "libphonenumber-js/max"], [
    "effect",
    "effect/Schema",
    "libphonenumber-js/min",
    "domain/oauth/OAuth.ts"
  ]),
  row("domain", ["domain"], impure, ["effect"]),
  row("ports/people", ["ports", "domain"], impure, ["effect", "effect/Schema", "ports/oauth/Applications.ts"]),
  row("messenger", ["messenger", ...base], impure, ["effect"]),
  row("changes", ["changes", ...base], impure, ["effect"]),
  row("kernel", ["kernel", "changes", "messenger", ...base], [...unstable, ...foreign], [
    "effect",
    "effect/http-api",
    "effect/http-api/HttpApiEndpoint",
    "kernel/runners/Read.ts"
  ]),
  row("kernel/runners", ["kernel", "changes", "messenger", ...base], [...unstable, ...foreign], ["effect"]),
  row("signin", ["signin", "changes", ...base], impure, ["effect"]),
  row("oauth/authorize", ["oauth", "changes", ...base], impure, ["effect"]),
  row("protection", ["protection", "changes", "messenger", ...base], impure, ["effect"]),
  row("operator/organization", ["operator", "changes", ...base], impure, ["effect"]),
  row("operations/index.ts", ["operations", "kernel", "changes", "messenger", ...base], impure, ["effect"]),
  row("operations/people", ["operations", "kernel", "changes", "messenger", ...base], impure, [
    "effect",
    "operations/CurrentPassword.ts"
  ]),
  {
    from: "operations/people/get_something.ts",
    refused: [inModule.operations, "operations/people/get_admin.ts"],
    packages: [],
    accepted: ["operations/people/AdminMailNotices.ts", "operations/people/people.samples.ts"]
  },
  row("jobs/journal", ["jobs", "protection", "signin", "changes", "messenger", ...base], impure, ["effect"]),
  row(
    "transport",
    ["transport", "operations", "kernel", ...base],
    ["@effect/platform-node", "node:fs", "org-security-console/http"],
    ["effect", "effect/http"]
  ),
  row("http/pages/people", ["http", "transport", "operations", "kernel", "oauth", "signin", ...base], [], [
    "effect/http"
  ]),
  row("mcp", ["mcp", "transport", "operations", "kernel", "oauth", ...base], [], ["effect/ai"]),
  row("layers/sql/oauth", ["layers", ...base], [], [
    "effect/sql",
    "@effect/sql-pg",
    "node:fs",
    "layers/crypto/Vault.ts"
  ]),
  {
    from: "layers/sql/signin",
    refused: [
      "domain/journal/JournalEntry.ts",
      "domain/mail/AdminMails.ts",
      "domain/mail/index.ts",
      inModule.changes
    ],
    packages: [],
    accepted: ["domain/journal/Actor.ts", "domain/mail/Mail.ts"]
  },
  row("layers", ["layers", ...base], [], ["effect/sql"]),
  row(
    "layers/messenger/wire",
    ["wire", ...base],
    [
      "effect/http-api",
      ...unstable,
      "@mtcute/core",
      "@effect/platform-node",
      "canonicalize",
      "org-security-console/http"
    ],
    [
      "effect",
      "node:net",
      "layers/Instant.ts",
      "layers/messenger/SessionConnections.ts",
      "layers/messenger/wire/Protocol.ts"
    ]
  ),
  row("layers/messenger/wire/Protocol.ts", ["wire", ...base], ["@effect/platform-node", "pg"], [
    "@mtcute/core",
    "@fuman/node",
    "node:crypto"
  ]),
  row("layers/index.ts", ["composed", "layers", "jobs", "protection", "signin", "messenger", ...base], [], ["node:fs"]),
  { from: "cli/commands/people", refused: [], packages: [], accepted: ["node:fs", ...Object.values(inModule)] }
]
