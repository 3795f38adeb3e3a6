/**
 * After a whole run, fails it unless each fact of the specification, each case of OAuth and each line of the security
 * document is shown by a test that passed, and keeps the proofs for `npm run facts`. Of a part of the tests it says
 * nothing.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import type { Reporter, TestCase, TestModule, TestRunEndReason, Vitest } from "vitest/node"
import { documents } from "../../spec/documents.ts"
import { findingsOf, proofsOf, type Ran } from "../../spec/proofs.ts"

const titlesOf = (test: TestCase): ReadonlyArray<string> => {
  const titles = [test.name]
  for (let group = test.parent; group.type === "suite"; group = group.parent) titles.unshift(group.name)
  return titles
}

const ranIn = (module: TestModule): ReadonlyArray<Ran> =>
  [...module.children.allTests()].map((test) => ({
    file: module.relativeModuleId.replace(/^test\//, ""),
    titles: titlesOf(test),
    passed: test.result().state === "passed"
  }))

export default class ProofReporter implements Reporter {
  #vitest: Vitest | undefined

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  async onTestRunEnd(
    modules: ReadonlyArray<TestModule>,
    _: ReadonlyArray<unknown>,
    reason: TestRunEndReason
  ): Promise<void> {
    if (reason === "interrupted" || !await this.#isWhole(modules)) return
    const tests = modules.flatMap(ranIn)
    const findings = findingsOf(tests, documents)
    mkdirSync("node_modules/.cache", { recursive: true })
    writeFileSync("node_modules/.cache/proofs.json", JSON.stringify([...proofsOf(tests)]))
    if (findings.length === 0) {
      process.stdout.write(`\nTests that passed name all ${documents.facts.length} facts of the specification.\n`)
    } else {
      process.stdout.write(
        `\nWhat is documented is not shown by this run:\n${findings.map((each) => `  ${each}\n`).join("")}`
      )
      process.exitCode = 1
    }
  }

  /** Whether all tests were to run, whatever the command line chose from. */
  async #isWhole(modules: ReadonlyArray<TestModule>): Promise<boolean> {
    if (this.#vitest === undefined) return false
    const { config } = this.#vitest
    if (config.testNamePattern !== undefined || config.shard !== undefined) return false
    return (await this.#vitest.globTestSpecifications()).length === modules.length
  }
}
