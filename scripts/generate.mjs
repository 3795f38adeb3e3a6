import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { pages } from "./documents.mjs"

/** Each generated file with the program whose standard output it is. */
const generated = {
  "openapi.json": ["src/cli/main.ts", "openapi"],
  "seeds/seed.schema.json": ["src/cli/main.ts", "seed-schema"]
}

/** The page with the table of settings that the command prints, in place of the one that it has. */
const withSettings = (page, table) => page.replace(/^\| Flag \|[^]*?\n(?=\n)/m, () => table)

const check = process.argv.includes("--check")

const write = (file, text) => {
  if (!check) {
    writeFileSync(file, text)
  } else if (readFileSync(file, "utf8") !== text) {
    console.error(`${file} is not what \`npm run generate\` makes`)
    process.exitCode = 1
  }
}

const print = (command) => execFileSync(process.execPath, command, { encoding: "utf8", maxBuffer: 64 << 20 })

for (const [file, command] of Object.entries(generated)) write(file, print(command))
const settings = "docs/configuration.md"
write(settings, withSettings(readFileSync(settings, "utf8"), print(["src/cli/main.ts", "settings"])))
for (const [page, text] of pages) write(page, text)
