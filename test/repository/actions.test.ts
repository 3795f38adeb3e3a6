import { describe, expect, it } from "vitest"
import { actionNames } from "../../src/domain/journal/JournalEntry.ts"
import { operations } from "../../src/operations/index.ts"
import { files, read } from "./repository.ts"

const table = "src/domain/journal/JournalEntry.ts"
const source = files("src/**/*.ts").filter((file) =>
  file !== table && !file.endsWith(".samples.ts") && !file.startsWith("src/layers/sql/migrations/")
)

/** What a pattern finds in the source, as `file name`. */
const found = (pattern: RegExp) =>
  source.flatMap((file) => [...read(file).matchAll(pattern)].map(([, name]) => ({ file, name })))

const declared = found(/\baction: "([^"]*\.[^"]*)"/g)

describe("the actions of the journal", () => {
  it("are each declared once: with the one operation that writes it, or in the table of the domain", () => {
    expect(declared.filter(({ file }) => !file.startsWith("src/operations/"))).toEqual([])
    const names = [...declared.map(({ name }) => name), ...actionNames]
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
  })

  it("are all of the operations' that change something", () => {
    const written = operations.flatMap((operation) =>
      "journal" in operation && operation.journal !== undefined ? [operation.journal.action] : []
    )
    const known = new Set([...declared.map(({ name }) => name), ...actionNames])
    expect(written.filter((action) => !known.has(action))).toEqual([])
    expect(written.filter((action) => !/^[a-z_]+\.[a-z_]+$/.test(action))).toEqual([])
  })

  it("of an operation's file are all in the operation's declaration, from which the list of actions is made", () => {
    const listed = operations.flatMap((operation) =>
      operation.journal === undefined ? [] : [operation.journal, ...operation.furtherActions]
    )
    const missing = declared.filter(({ file, name }) =>
      file.startsWith("src/operations/") && !listed.some(({ action }) => action === name)
    )
    expect(missing).toEqual([])
    const chapter = read("docs/specification/11-journal.md")
    expect(listed.filter(({ action }) => !chapter.includes(`| \`${action}\` |`))).toEqual([])
  })

  it("of the table are all written by something", () => {
    const text = source.map(read).join("\n")
    expect(actionNames.filter((name) => !text.includes(`"${name}"`))).toEqual([])
  })

  it("are journaled as intents in one place", () => {
    const begun = source.filter((file) => /\bjournal\.begin\(/.test(read(file)))
    expect(begun).toEqual(["src/changes/Intent.ts"])
  })

  it("become entries in one place, whoever the actor is", () => {
    const built = [table, ...source].filter((file) => /\bactor: (?:\{|actor\.)/.test(read(file)))
    expect(built).toEqual([table, "src/layers/sql/journal/JournalRows.ts"])
  })
})
