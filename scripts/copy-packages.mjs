/**
 * Copies the modules that the library uses of the packages in `copied.json` into `dist`, and has the library import them
 * from there. Such a package brings others when it is installed that those modules never use: a client of Redis and a
 * second HTTP client, of 18 MB.
 */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"

const root = fileURLToPath(new URL("..", import.meta.url))
const copied = JSON.parse(readFileSync(new URL("copied.json", import.meta.url), "utf8"))
const importer = join(root, "dist/http/Server.js")
const target = join(root, "dist/http/node")

const isCopied = (id) => copied.some((name) => id.startsWith(`${name}/`))

const code = readFileSync(importer, "utf8")
const imported = [...code.matchAll(/ from "([^"]+)"/g)].map(([, id]) => id).filter(isCopied)
const nameOf = (id) => id.split("/").at(-1)

const bundle = await rolldown({
  cwd: root,
  input: Object.fromEntries(imported.map((id) => [nameOf(id), id])),
  platform: "node",
  external: (id) => /^[@\w]/.test(id) && !isCopied(id),
  onLog: (_level, log) => {
    throw new Error(log.message)
  }
})
await bundle.write({ dir: target, format: "esm", entryFileNames: "[name].js", chunkFileNames: "[name].js" })
await bundle.close()
for (const name of copied.filter((name) => imported.some((id) => id.startsWith(`${name}/`)))) {
  copyFileSync(join(root, "node_modules", name, "LICENSE"), join(target, "LICENSE"))
}
writeFileSync(
  importer,
  imported.reduce((text, id) => text.replaceAll(`"${id}"`, `"./node/${nameOf(id)}.js"`), code)
)
