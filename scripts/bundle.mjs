/**
 * Bundles the program with what it depends on into `dist/cli` of a folder, by default the repository's, with the
 * licences of every package in it. Packages with native or WebAssembly files stay outside, and so do
 * the optional ones.
 */
import { chmodSync, cpSync, globSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { rolldown } from "rolldown"

const root = fileURLToPath(new URL("..", import.meta.url))
const [folder = root] = process.argv.slice(2)
const target = join(folder, "dist/cli")

const outside = [/^@electric-sql\/pglite/, /^@node-rs\/argon2$/, /^fs-native-extensions$/, /^@mtcute\//, /^@fuman\//]

const readJson = (file) => JSON.parse(readFileSync(file, "utf8"))

/** The folder of the package that a module is of; none for the project's own. */
const packageOf = (module) => /^(?!\0)(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)/.exec(module)?.[1]

/** Where packages are, as the bundler names them: links are followed. */
const modules = realpathSync(join(root, "node_modules"))

/** They are no dependencies, and in the bill of materials all the same. */
const copied = readJson(join(root, "scripts/copied.json"))

const lock = readJson(join(root, "package-lock.json")).packages

/** What a package is and under which terms, in its own words; the bill of materials names what is not for development. */
const licence = (directory) => {
  const { author, license, name, version } = readJson(join(directory, "package.json"))
  const entry = lock[`node_modules${directory.slice(modules.length).replaceAll("\\", "/")}`]
  if (entry === undefined || (entry.dev && !copied.includes(name))) {
    throw new Error(`${name} is bundled, and no dependency of the package.`)
  }
  if (license === undefined) throw new Error(`${name} does not say its licence.`)
  const files = globSync("{LICEN[CS]E,licen[cs]e,COPYING,NOTICE}{,.md,.txt}", { cwd: directory }).toSorted()
  const by = typeof author === "string" ? author : author?.name
  const texts = files.length === 0
    ? [`Copyright ${by ?? `the authors of ${name}`}`]
    : files.map((file) => readFileSync(join(directory, file), "utf8").trim())
  return `## ${name} ${version} (${license})\n\n${texts.join("\n\n")}\n`
}

/** The bundler leaves the text of templates with a tag as it is. Those that have such characters read no raw text. */
const escapeTemplates = {
  name: "escape-templates",
  renderChunk: (code) => code.replace(/[^\0-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
}

/** The program, and that of its threads, each with all that it needs. */
const programs = { main: "src/cli/main.ts", SearchThread: "src/layers/archive/SearchThread.ts" }

const bundleProgram = async ([name, file]) => {
  const bundle = await rolldown({
    cwd: root,
    input: { [name]: join(root, file) },
    platform: "node",
    external: outside,
    plugins: [escapeTemplates],
    // Some packages offer CommonJS first, which finds its files at run time.
    resolve: { mainFields: ["module", "main"] },
    onLog: (_level, log) => {
      throw new Error(log.message)
    }
  })
  const { output } = await bundle.write({
    dir: target,
    format: "esm",
    // V8 keeps a text with any character beyond Latin 1 in twice the memory, and comments as long as the code.
    charset: "ascii",
    comments: { annotation: false, jsdoc: false, legal: true },
    entryFileNames: "[name].js",
    chunkFileNames: "[name].js"
  })
  await bundle.close()
  return output
}

rmSync(target, { recursive: true, force: true })
const output = (await Promise.all(Object.entries(programs).map(bundleProgram))).flat()
chmodSync(join(target, "main.js"), 0o755)
// The program reads them next to itself.
cpSync(join(root, "src/layers/postgres/schema"), join(target, "schema"), { recursive: true })

const packages = new Set(output.flatMap(({ modules }) => Object.keys(modules)).map(packageOf).filter((each) => each))
writeFileSync(
  join(target, "LICENSES.md"),
  ["# Packages in the program, and their licences\n", ...[...packages].sort().map(licence)].join("\n")
)
