/** The checkout's files, with a change in one of them. */
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { parseSync } from "rolldown/utils"
import { type Declaration, declarationsNamed, declarationsOf } from "./declarations.ts"
import type { Change, Mutant } from "./mutant.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))

const word = "[\\w$#]"
const operator = "[<>=!&|+*?]"

/** At the edge of a pattern, no part of a longer name or of a longer operator. */
const whole = (pattern: string) => {
  const edge = (char: string, look: string) =>
    new RegExp(word).test(char) ? `(?${look}${word})` : new RegExp(operator).test(char) ? `(?${look}${operator})` : ""
  return [edge(pattern.charAt(0), "<!"), edge(pattern.charAt(pattern.length - 1), "!")] as const
}

/** Finds the piece of code however its lines are broken: between its words and signs there may be other white space. */
const patternOf = (piece: string): RegExp => {
  const [before, after] = whole(piece)
  const parts = piece.match(/[\w$#]+|\s+|[^\w$#\s]/g) ?? []
  const text = parts.flatMap((part, at) => {
    const isBetweenWords = /\w/.test(parts[at - 1] ?? "") && /\w/.test(parts[at + 1] ?? "")
    if (/\s/.test(part)) return [isBetweenWords ? "\\s+" : "\\s*"]
    const isApart = at > 0 && !/\s/.test(parts[at - 1] ?? "")
    return [isApart ? "\\s*" : "", part.replaceAll(/[^\w\s]/g, "\\$&")]
  })
  return new RegExp(`${before}${text.join("")}${after}`, "g")
}

interface Place {
  readonly start: number
  readonly end: number
}

/** The places where the piece stands in the declarations of the change's name. */
const placesOf = (
  change: Change,
  source: string,
  declarations: ReadonlyArray<Declaration>
): ReadonlyArray<Place> => {
  const among = declarationsNamed(change.in, declarations)
  return [...source.matchAll(patternOf(change.replace))]
    .map((found) => ({ start: found.index, end: found.index + found[0].length }))
    .filter(({ end, start }) => among.some((declaration) => declaration.start <= start && end <= declaration.end))
}

/** The source with the change in it; the piece must stand at one place. */
export const mutated = (change: Change, file: string, source: string): string => {
  const places = placesOf(change, source, declarationsOf(file, source))
  const [place] = places
  if (place === undefined || places.length > 1) {
    throw new Error(`${file}: ${places.length} times in ${change.in}: ${change.replace}`)
  }
  return `${source.slice(0, place.start)}${change.by}${source.slice(place.end)}`
}

/** What keeps the change from being applied; nothing where it gives another source that can be read. */
const faultOf = ({ change, file }: Mutant): string | undefined => {
  const target = path.join(root, file)
  if (!fs.existsSync(target)) return `there is no ${file}`
  const source = fs.readFileSync(target, "utf8")
  try {
    const after = mutated(change, file, source)
    if (after === source) return `${file}: nothing changes in ${change.in}: ${change.replace}`
    const [error] = parseSync(file, after).errors
    return error === undefined ? undefined : `${file}: ${error.message} after ${change.replace} in ${change.in}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** What a mutant is not tried without: its place, once, and its tests. */
export const faultsOf = (mutant: Mutant): ReadonlyArray<string> =>
  [
    faultOf(mutant) ?? [],
    mutant.tests.length === 0 ? `${mutant.file}: no tests are named for: ${mutant.why}` : [],
    mutant.tests.filter((test) => !fs.existsSync(path.join(root, test))).map((test) => `there is no ${test}`)
  ].flat()

const left = new Set(["node_modules", ".git", "data", "dist"])

/** A copy of the checkout that shares its dependencies. */
export const copyTo = (directory: string): void => {
  fs.cpSync(root, directory, {
    recursive: true,
    filter: (source) => !left.has(path.relative(root, source))
  })
  fs.symlinkSync(path.join(root, "node_modules"), path.join(directory, "node_modules"))
}

/** Writes the change into the copy, and answers what takes it back. */
export const apply = ({ change, file }: Mutant, directory: string): () => void => {
  const target = path.join(directory, file)
  const before = fs.readFileSync(target, "utf8")
  fs.writeFileSync(target, mutated(change, file, before))
  return () => fs.writeFileSync(target, before)
}
