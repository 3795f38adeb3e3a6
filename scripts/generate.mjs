import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"

/** Each generated file with the program whose standard output it is. */
const generated = {
  "src/http/examples.json": ["scripts/examples.mjs"],
  "openapi.json": ["src/cli/main.ts", "openapi"],
  "seeds/seed.schema.json": ["src/cli/main.ts", "seed-schema"]
}

const check = process.argv.includes("--check")

for (const [file, command] of Object.entries(generated)) {
  const text = execFileSync(process.execPath, command, { encoding: "utf8", maxBuffer: 64 << 20 })
  if (!check) {
    writeFileSync(file, text)
  } else if (readFileSync(file, "utf8") !== text) {
    console.error(`${file} is not what \`npm run generate\` makes`)
    process.exitCode = 1
  }
}
