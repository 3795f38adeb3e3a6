/**
 * The modules of `src`, in the order of their imports: what each holds, and what it may import. The linter enforces the
 * table (`imports.mjs`), and docs/architecture.md shows it.
 */

/** Effect's core modules; those with lower-case names are marked unstable. */
const core = /^effect(\/[A-Z]\w*)?$/
const node = /^node:/
const any = /^/

/** Files of `layers` that compose all others. */
const composing = ["Console", "Core", "SigningIn", "Worker", "index"].map((name) => `layers/${name}.ts`)

/** Storage only stores: no file of `path` imports what makes entries of the journal or mails, other than types. */
export const storage = {
  path: "layers/sql",
  makers: [
    "domain/journal/JournalEntry.ts",
    "domain/mail/AdminMails.ts",
    "domain/mail/Alerts.ts",
    "domain/mail/index.ts"
  ]
}

/**
 * `paths`: files and folders below `src`; the longest one that contains a file is its module. `imports`: paths whose
 * files it may import besides its own. `packages`: what else it may import; `types`: from what it may import types.
 */
export const modules = [
  {
    paths: ["domain"],
    holds: "the model, by area: values, ids, roles, resources, failures, limits, pure rules and states",
    imports: [],
    packages: [core, /^libphonenumber-js\/min$/]
  },
  {
    paths: ["ports"],
    holds: "the interfaces that the core needs, by area; each port is a service",
    imports: ["domain"],
    packages: [core]
  },
  {
    paths: ["messenger"],
    holds: "asking the messenger: open sessions, timeouts, and its refusals as the service's failures",
    imports: ["ports", "domain"],
    packages: [core]
  },
  {
    paths: ["changes"],
    holds: "changes that operations, operators, pages and jobs make in the same way: entry, mails, intent and outcome",
    imports: ["ports", "domain"],
    packages: [core]
  },
  {
    paths: ["kernel"],
    holds: "what all operations share: contract, endpoint, admission, loading of accounts, the runners of the kinds",
    imports: ["changes", "messenger", "ports", "domain"],
    packages: [core, /^effect\/http-api(\/|$)/],
    types: [/^effect\/http(\/|$)/]
  },
  {
    paths: ["signin"],
    holds: "sign-in of admins: cookies, factors, throttles, links of invitations and of passwords",
    imports: ["changes", "ports", "domain"],
    packages: [core]
  },
  {
    paths: ["oauth"],
    holds: "the authorization server: one file for each check or grant",
    imports: ["archive", "changes", "ports", "domain"],
    packages: [core]
  },
  {
    paths: ["protection"],
    holds: "monitoring of accounts: poll, decide, sign out, and background tasks of accounts",
    imports: ["changes", "messenger", "ports", "domain"],
    packages: [core]
  },
  {
    paths: ["archive"],
    holds: "the archive: sealing, writing, reading and searching it; runs in browsers too",
    imports: ["ports", "domain"],
    packages: [core, /^client-zip$/, /^hono\/html$/]
  },
  {
    paths: ["capture"],
    holds: "reading chats from the messenger into the archive: rules, runs, what is pushed, and what is promised of it",
    imports: ["changes", "messenger", "ports", "domain"],
    packages: [core]
  },
  {
    paths: ["operator"],
    holds: "an operator's changes to organizations, admins, keys and applications, journaled as made by the operator",
    imports: ["archive", "changes", "ports", "domain"],
    packages: [core]
  },
  {
    paths: ["operations"],
    holds: "the operations, one file each in the folder of its area, and `index.ts`, the list of all",
    imports: ["kernel", "archive", "changes", "messenger", "ports", "domain"],
    packages: [core]
  },
  {
    paths: ["jobs"],
    holds: "periodic background work: the scheduler, the list of all jobs, and a file for each",
    imports: ["protection", "capture", "signin", "archive", "changes", "messenger", "ports", "domain"],
    packages: [core]
  },
  {
    paths: ["transport"],
    holds: "what HTTP and MCP share: sites, authentication, limits by address, request ids, error bodies, log, metrics",
    imports: ["operations", "kernel", "ports", "domain"],
    packages: [/^(?!@effect\/|node:|org-security-console)/]
  },
  {
    paths: ["http"],
    holds: "routes, OpenAPI document, typed client, OAuth endpoints, the server, and the pages by area",
    imports: ["transport", "operations", "kernel", "oauth", "signin", "archive", "ports", "domain"],
    packages: [any]
  },
  {
    paths: ["mcp"],
    holds: "tools, over HTTP and over standard input and output",
    imports: ["transport", "operations", "kernel", "oauth", "ports", "domain"],
    packages: [any]
  },
  {
    paths: ["layers"],
    holds: "the implementations of the ports: database, SQL by area, cryptography, mail, messenger, seed files",
    imports: ["ports", "domain"],
    packages: [any]
  },
  {
    paths: ["layers/archive", "layers/seed"],
    holds: "the archive's cryptography and opened keys, and seed files, whose chats are sealed",
    imports: ["layers", "archive", "ports", "domain"],
    packages: [any]
  },
  {
    paths: ["layers/messenger/wire"],
    holds: "the messenger over its own protocol; an optional entry of the package",
    imports: [
      "layers/messenger/wire",
      "layers/messenger/SessionConnections.ts",
      "layers/Gauge.ts",
      "layers/Instant.ts",
      "ports",
      "domain"
    ],
    packages: [core, node]
  },
  {
    paths: ["layers/messenger/wire/Cipher.ts", "layers/messenger/wire/Protocol.ts"],
    holds: "the only files that import the library of the messenger's protocol",
    imports: ["layers/messenger/wire", "ports", "domain"],
    packages: [core, node, /^@(mtcute|fuman)\//]
  },
  {
    paths: composing,
    holds: "what composes the implementations with jobs and sign-in, for programs, tests and embedding",
    imports: ["layers", "jobs", "protection", "capture", "signin", "archive", "messenger", "ports", "domain"],
    packages: [any]
  },
  {
    paths: ["viewer"],
    holds:
      "what opens the archive in browsers: the viewer and the page of the archive password, each a script and a worker",
    imports: ["layers/archive/WebCrypto.ts", "layers/archive/RemoteArchive.ts", "archive", "ports", "domain"],
    packages: [core, /^hash-wasm$/, /^@noble\/hashes\/sha2\.js$/, /^@zxcvbn-ts\//]
  },
  {
    paths: ["cli"],
    holds: "the command line: settings, processes, and the commands by area",
    imports: [""],
    packages: [any]
  },
  {
    paths: ["Types.ts"],
    holds: "the types that declarations of programs name; it only re-exports",
    imports: [""],
    packages: [any]
  },
  {
    paths: ["index.ts"],
    holds: "the main entry of the package, which only re-exports",
    imports: ["Types.ts", "operations", "operator", "kernel", "oauth", "jobs", "archive", "ports", "domain"],
    packages: [core]
  }
]
