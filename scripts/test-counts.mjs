import { readFileSync } from "node:fs"

/** Prints the counts of the test runner's report, and fails unless all tests passed. */
const [file] = process.argv.slice(2)
let report
try {
  report = JSON.parse(readFileSync(file, "utf8"))
} catch {
  console.error(`There is no report at ${file}.`)
  report = { testResults: [{ status: "failed", assertionResults: [] }] }
}

const statuses = report.testResults.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status))
const broken =
  report.testResults.filter(({ assertionResults, status }) =>
    status === "failed" && assertionResults.every((test) => test.status !== "failed")
  ).length
const passed = statuses.filter((status) => status === "passed").length
const failed = statuses.filter((status) => status === "failed").length + broken
const skipped = statuses.length - passed - (failed - broken)

console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
process.exitCode = passed > 0 && failed === 0 && skipped === 0 && report.success === true ? 0 : 1
