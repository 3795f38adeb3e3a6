/**
 * Keeps the declarations that a build has just made, by what they are made from: a test of programs over the package
 * needs them, and the compiler takes a quarter of a minute to make them.
 */
import { createHash } from "node:crypto"
import { cpSync, existsSync, globSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

/** The folder of the declarations of the sources as they are now; it is there once they are made. */
export const findDeclarations = () => {
  const hash = createHash("sha256")
  for (const file of globSync(["src/**/*.ts", "tsconfig*.json", "package-lock.json"], { cwd: root }).toSorted()) {
    hash.update(`\n${file}\n`).update(readFileSync(join(root, file)))
  }
  return join(root, "node_modules/.cache/declarations", hash.digest("hex").slice(0, 32))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const place = findDeclarations()
  rmSync(join(place, ".."), { recursive: true, force: true })
  cpSync(join(root, "dist"), place, {
    recursive: true,
    filter: (file) => !file.endsWith(".js")
  })
  if (!existsSync(join(place, "index.d.ts"))) throw new Error("The build has made no declarations.")
}
