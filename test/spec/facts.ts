import { readdirSync, readFileSync } from "node:fs"

export interface Fact {
  readonly id: string
  readonly text: string
}

/** The numbered facts of a page of the specification, in its order: rows of two cells, the first of them an id. */
export const parseFacts = (markdown: string): ReadonlyArray<Fact> =>
  markdown.split("\n").flatMap((line) => {
    const [, id = "", text] = line.split("|").map((cell) => cell.trim())
    return text !== undefined && /^S\d+(\.\d+)?-\d+$/.test(id) && line.split("|").length === 4
      ? [{ id, text }]
      : []
  })

const specification = new URL("../../docs/specification/", import.meta.url)

/** The pages of the specification's chapters, in their order, each with its text. */
export const chapters: ReadonlyArray<readonly [file: string, text: string]> = readdirSync(specification)
  .filter((file) => /^\d\d-.*\.md$/.test(file)).sort()
  .map((file) => [file, readFileSync(new URL(file, specification), "utf8")])

export const facts = chapters.flatMap(([, text]) => parseFacts(text))

/** The ids that stand in a title, whether or not the specification has them. */
export const idsIn = (title: string): ReadonlyArray<string> => title.match(/\bS\d+(?:\.\d+)*-\d+\b/g) ?? []
