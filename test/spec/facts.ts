import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = new URL("../", import.meta.url)

export interface Fact {
  readonly id: string
  readonly text: string
  readonly later: boolean
}

/** The numbered facts of a page of the specification, in its order: rows of two cells, the first of them an id. */
export const parseFacts = (markdown: string): ReadonlyArray<Fact> =>
  markdown.split("\n").flatMap((line) => {
    const [, id = "", text] = line.split("|").map((cell) => cell.trim())
    return text !== undefined && /^S\d+(\.\d+)?-\d+$/.test(id) && line.split("|").length === 4
      ? [{ id, text, later: text.endsWith("(later)") }]
      : []
  })

const specification = new URL("../../docs/specification/", import.meta.url)

/** The pages of the specification's chapters, in their order, each with its text. */
export const chapters: ReadonlyArray<readonly [file: string, text: string]> = readdirSync(specification)
  .filter((file) => /^\d\d-.*\.md$/.test(file)).sort()
  .map((file) => [file, readFileSync(new URL(file, specification), "utf8")])

export const facts = chapters.flatMap(([, text]) => parseFacts(text))

/** The source with the contents of comments, strings and regular expressions blanked, at unchanged positions. */
export const blank = (source: string): string => {
  const out = source.split("")
  const hide = (from: number, to: number) => {
    for (let at = from; at < to; at++) if (out[at] !== "\n") out[at] = " "
  }
  const templates: Array<number> = []
  let braces = 0
  let at = 0
  const skipTo = (pattern: RegExp, from: number) => {
    pattern.lastIndex = from
    const found = pattern.exec(source)
    return found === null ? source.length : found.index + found[0].length
  }
  const template = (from: number) => {
    const end = skipTo(/(?:[^\\`$]|\\[^]|\$(?!\{))*(?:`|\$\{)/y, from)
    hide(from, source[end - 1] === "`" ? end - 1 : end - 2)
    if (source[end - 1] === "{") templates.push(braces++)
    return end
  }
  while (at < source.length) {
    const char = source.charAt(at)
    const pair = source.slice(at, at + 2)
    if (pair === "//" || pair === "/*") {
      const end = skipTo(pair === "//" ? /[^\n]*/y : /\/\*[^]*?\*\//y, at)
      hide(at, end)
      at = end
    } else if (char === "\"" || char === "'") {
      const end = skipTo(char === "\"" ? /"(?:[^"\\\n]|\\[^])*"/y : /'(?:[^'\\\n]|\\[^])*'/y, at)
      hide(at + 1, end - 1)
      at = end
    } else if (char === "`") {
      at = template(at + 1)
    } else if (
      char === "/" && /(?:^|[=(,:;!&|?{}[\n]|=>|return)\s*$/.test(out.slice(Math.max(0, at - 40), at).join(""))
    ) {
      const end = skipTo(/\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//y, at)
      hide(at + 1, end - 1)
      at = end
    } else if (char === "{") {
      braces++
      at++
    } else if (char === "}") {
      braces--
      at = templates.at(-1) === braces && templates.pop() !== undefined ? template(at + 1) : at + 1
    } else {
      at++
    }
  }
  return out.join("")
}

const closing = (code: string, open: number): number => {
  let depth = 0
  for (let at = open; at < code.length; at++) {
    if ("([{".includes(code.charAt(at))) depth++
    if (")]}".includes(code.charAt(at)) && --depth === 0) return at
  }
  return code.length
}

/** The titles of the tests and groups of a source file, without the skipped ones. */
export const titles = (source: string): ReadonlyArray<string> => {
  const code = blank(source)
  return [...code.matchAll(/(?<![\w.$])(?:it|test|describe)((?:\.\w+)*)\(/g)].flatMap((call) => {
    if (/\.(?:skip|todo|fails|skipIf|runIf)\b/.test(call[1] ?? "")) return []
    let open = call.index + call[0].length - 1
    if (/\.(?:each|for)$/.test(call[1] ?? "")) open = code.indexOf("(", closing(code, open))
    const quote = /\s*(["'`])/y
    quote.lastIndex = open + 1
    const found = quote.exec(code)
    if (open < 0 || found === null) return []
    const start = quote.lastIndex
    return [source.slice(start, code.indexOf(found[1] ?? "", start))]
  })
}

/** The ids that stand in a title, whether or not the specification has them. */
export const idsIn = (title: string): ReadonlyArray<string> => title.match(/\bS\d+(?:\.\d+)*-\d+\b/g) ?? []

/** For every id in the title of a test, the titles that name it. */
export const named: ReadonlyMap<string, ReadonlyArray<string>> = (() => {
  const byId = new Map<string, Array<string>>()
  for (const file of readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"))) {
    if (fileURLToPath(new URL(file, root)) === fileURLToPath(new URL("repository/facts.test.ts", root))) continue
    for (const title of titles(readFileSync(new URL(file, root), "utf8"))) {
      for (const id of idsIn(title)) byId.set(id, [...byId.get(id) ?? [], `${file}: ${title}`])
    }
  }
  return byId
})()
