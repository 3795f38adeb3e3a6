import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

/** The root of the repository. */
export const root = fileURLToPath(new URL("../../", import.meta.url))

/** The files that match a pattern, relative to the root. */
export const files = (pattern: string): ReadonlyArray<string> => globSync(pattern, { cwd: root }).sort()

export const read = (file: string): string => readFileSync(`${root}${file}`, "utf8")
