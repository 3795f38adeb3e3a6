import { Duration } from "effect"
import { globSync, readFileSync } from "node:fs"
import { actionNames, journalAction } from "../src/domain/journal/JournalEntry.ts"
import { mailKinds } from "../src/domain/mail/index.ts"
import { documented } from "../src/jobs/Jobs.ts"
import { operations } from "../src/operations/index.ts"
import { facts } from "../test/spec/facts.ts"
import { modules } from "./lint/modules.mjs"

/** The parts of documents that are read from the source: from declarations of operations and jobs, facts and files. */
const folder = "docs/specification"

const read = (file) => readFileSync(new URL(`../${file}`, import.meta.url), "utf8")

const code = (text) => `\`${text}\``
const list = (values) => values.map(code).join(", ")
const table = (head, rows) => [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n")

const address = ({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`
const roles = ({ roles }) => roles.length === 5 ? "all" : list(roles)
const codes = ({ failures }) => failures.map(({ identifier }) => identifier)

/** The codes that every operation may answer. */
const common = codes(operations[0]).filter((each) => operations.every((operation) => codes(operation).includes(each)))

const inChapter4 = new Set([...read(`${folder}/04-operations.md`).matchAll(/^## 4\.\d+ (\w+)$/gm)].map(([, id]) => id))

const details = (operation) => {
  const { destructive, idempotent, journal, kind, scope, toolset, whole } = operation
  const own = codes(operation).filter((each) => !common.includes(each))
  return table(["Declared", ""], [
    ["Address", code(address(operation))],
    ["Scope", code(scope)],
    ["Roles", roles(operation)],
    ["Toolset", code(toolset)],
    [
      "Kind",
      [
        kind,
        ...(destructive ? ["destructive"] : []),
        ...(whole ? ["whole organization"] : []),
        journal === undefined ? "read-only" : idempotent ? "idempotent" : "not idempotent"
      ].map(code).join(", ")
    ],
    ...(journal === undefined ? [] : [["Journal", code(journal.action)]]),
    ["Own codes", own.length === 0 ? "none" : list(own)]
  ])
}

const overview = (shown) =>
  table(
    ["Operation", "Address", "Scope", "Roles", "Changes something"],
    shown.map((operation) => [
      code(operation.id),
      code(address(operation)),
      code(operation.scope),
      roles(operation),
      operation.journal === undefined ? "no" : "yes"
    ])
  )

const own = operations.filter(({ id }) => !inChapter4.has(id))

const time = (given) => {
  const millis = Duration.toMillis(Duration.fromInputUnsafe(given))
  return millis < 1000 ? `${millis} ms` : millis < 60_000 ? `${millis / 1000} s` : `${millis / 60_000} min`
}

const sentences = [
  /^\/\*\*([^]*?)\*\//,
  /^ *(?:summary|does):\s+"(.*)",?$/m,
  /^\/\*\*((?:(?!\*\/)[^])*)\*\/\nexport const layer/m,
  /^\/\*\*((?:(?!\*\/)[^])*)\*\/\nexport /m,
  /^-- (.*)$/m
]

/** The file in a sentence: of its operation or job, of the first export that has one, or of the port that it implements. */
const sentenceOf = (file) => {
  const text = read(file)
  const said = sentences.map((pattern) => pattern.exec(text)?.[1]).find((sentence) => sentence !== undefined)
  const [port] = globSync(`src/ports/**/${file.slice(file.lastIndexOf("/") + 1)}`)
  if (said === undefined && port !== undefined && port !== file) return sentenceOf(port)
  const found = said ?? /\/\*\*([^]*?)\*\//.exec(text)?.[1]
  if (found === undefined) throw new Error(`${file} says nowhere what it is for`)
  const plain = found.replaceAll(/\n *\*/g, " ").replaceAll(/\s+/g, " ").trim()
  const [sentence] = /^.*?[.;](?= [A-Z`]|$)/.exec(plain) ?? [plain]
  return sentence.replace(/[.:;]$/, "")
}

/** Each generated block by its name; the rest of the marker is passed to it. */
const blocks = {
  operations: () => overview(operations.filter(({ id }) => inChapter4.has(id))),
  "own-operations": () =>
    [
      overview(own),
      ...own.map((operation) =>
        [
          `### ${operation.id}`,
          [operation.summary, operation.description ?? ""].join(" ").trim(),
          details(operation)
        ].join("\n\n")
      )
    ].join("\n\n"),
  operation: (id) => details(operations.find((operation) => operation.id === id)),
  codes: () => {
    const statuses = new Map(
      operations.flatMap(({ failures }) => failures.map((each) => [each.identifier, each.status]))
    )
    const sorted = [...statuses].sort(([a, x], [b, y]) => x - y || a.localeCompare(b))
    return table(
      ["Code", "Status", "Answered by"],
      sorted.map(([each, status]) => [
        code(each),
        status,
        common.includes(each)
          ? "every operation"
          : list(operations.filter((one) => codes(one).includes(each)).map(({ id }) => id))
      ])
    )
  },
  actions: () => {
    const written = operations.flatMap(({ furtherActions, id, journal }) =>
      journal === undefined ? [] : [journal, ...furtherActions].map((action) => ({ ...action, id }))
    )
    const names = [...new Set([...actionNames, ...written.map(({ action }) => action)])].sort()
    return table(
      ["Action", "Target", "Operation"],
      names.map((name) => {
        const by = written.filter(({ action }) => action === name)
        const { target } = by[0] ?? journalAction(name)
        return [code(name), code(target), list(by.map(({ id }) => id))]
      })
    )
  },
  mails: () =>
    table(
      ["Mail", "When", "To", "Choice"],
      mailKinds.map(({ choice, kind, to, when }) => [code(kind), when, to, choice === null ? "none" : code(choice)])
    ),
  jobs: () =>
    table(
      ["Job", "Every", "What it does"],
      documented.map(({ does, least, name, period, worker }) => [
        code(name),
        least === undefined ? time(period) : `${time(least)} to ${time(period)}`,
        worker ? `${does}; only in a process with the role \`worker\`` : does
      ])
    ),
  modules: () =>
    table(
      ["Module", "What it holds", "May import"],
      modules.map(({ holds, imports, paths }) => [
        paths.map((path) => code(path.endsWith(".ts") ? `src/${path}` : `src/${path}/`)).join(", "),
        holds,
        imports.includes("") ? "everything" : list(imports) || "no other module"
      ])
    ),
  files: () => {
    const files = globSync("src/**/*.{ts,sql}", { cwd: new URL("../", import.meta.url) }).sort()
    const folders = Map.groupBy(files, (file) => file.slice(0, file.lastIndexOf("/")))
    return [...folders].sort(([one], [other]) => one < other ? -1 : 1).map(([folder, inside]) =>
      [
        `## ${folder}`,
        inside.map((file) => `- [${file.slice(folder.length + 1)}](../${file}): ${sentenceOf(file)}`).join("\n")
      ].join("\n\n")
    ).join("\n\n")
  },
  source: (argument) => {
    const [file, name] = argument.split(" ")
    const text = read(file)
    const from = name === undefined ? 0 : text.indexOf(`export const ${name} = `)
    return `\`\`\`ts source\n${
      name === undefined ? text : text.slice(from, text.indexOf("\n} as const\n", from) + 12)
    }\`\`\``
  },
  readings: () =>
    table(
      ["Fact", "Taken", "Not taken"],
      facts.flatMap(({ id, text }) => {
        const [, taken, other] = /\(reading: (.*); not: (.*?)\)/.exec(text) ?? []
        return taken === undefined ? [] : [[id, taken, other]]
      })
    )
}

const fill = (_, name, argument) =>
  `<!-- generated: ${[name, argument].join(" ").trim()} -->\n\n${blocks[name](argument)}\n\n<!-- end -->`

/** Every page that has generated blocks, with what they have to be. */
export const pages = globSync([`${folder}/*.md`, "docs/{adding-an-operation,architecture,files,operations}.md"], {
  cwd: new URL("../", import.meta.url)
}).sort().map((file) => [
  file,
  read(file).replaceAll(/<!-- generated: ([\w-]+) ?(.*?) -->\n[^]*?<!-- end -->/g, fill)
])
