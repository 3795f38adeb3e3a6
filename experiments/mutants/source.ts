/** The checkout's files, with a change in one of them. */
import * as fs from "node:fs"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import type { Mutant } from "./list.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))

/** How often the line stands in the file. */
const occurrences = ({ file, line }: Mutant, directory: string = root): number => {
  const source = path.join(directory, file)
  if (!fs.existsSync(source)) return 0
  return fs.readFileSync(source, "utf8").split("\n").filter((text) => text.trim() === line).length
}

/** What a change is not applied without: its line, once, and its tests. */
export const faultsOf = (mutant: Mutant): ReadonlyArray<string> => {
  const found = occurrences(mutant)
  return [
    ...(found === 1 ? [] : [`${mutant.file}: stands ${found} times: ${mutant.line}`]),
    ...(mutant.tests.length === 0 ? [`${mutant.file}: no tests are named for: ${mutant.line}`] : []),
    ...mutant.tests.filter((test) => !fs.existsSync(path.join(root, test))).map((test) => `there is no ${test}`)
  ]
}

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
export const apply = ({ becomes, file, line }: Mutant, directory: string): () => void => {
  const target = path.join(directory, file)
  const before = fs.readFileSync(target, "utf8")
  const after = before.split("\n").map((text) => text.trim() === line ? becomes : text).join("\n")
  fs.writeFileSync(target, after)
  return () => fs.writeFileSync(target, before)
}
