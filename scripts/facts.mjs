import { facts, named } from "../test/spec/facts.ts"
import { exceptions, exclusions } from "../test/spec/scope.ts"

/** Prints each fact of the specification with the tests that name it, or why none does. */
for (const { id, later, text } of facts) {
  const why = exclusions[id] ?? exceptions[id] ?? (later ? "later" : "UNPROVED")
  console.log(`${id}  ${text}\n${(named.get(id) ?? [`(${why})`]).map((line) => `    ${line}\n`).join("")}`)
}
