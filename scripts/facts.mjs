import { readFileSync } from "node:fs"
import { facts } from "../test/spec/facts.ts"
import { exceptions, exclusions } from "../test/spec/scope.ts"

/** Prints each fact of the specification with the tests that proved it in the last whole run, or why none did. */
const proofs = (() => {
  try {
    return new Map(JSON.parse(readFileSync("node_modules/.cache/proofs.json", "utf8")))
  } catch {
    console.error("There is no whole run of the tests yet: npm test")
    process.exit(1)
  }
})()
for (const { id, text } of facts) {
  const why = exclusions[id] ?? exceptions[id] ?? "UNPROVED"
  console.log(`${id}  ${text}\n${(proofs.get(id) ?? [`(${why})`]).map((line) => `    ${line}\n`).join("")}`)
}
