/** Runs test files of a copy of the checkout, up to the first that fails. */
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"

/** What a run has shown. */
export type Shown =
  | { readonly how: "green"; readonly tests: number }
  | { readonly how: "red"; readonly title: string }
  /** No test said anything: the files could not be run, or were not done in time. */
  | { readonly how: "broken"; readonly log: string }

interface Report {
  readonly numPassedTests: number
  readonly testResults: ReadonlyArray<{
    readonly assertionResults: ReadonlyArray<{ readonly status: string; readonly title: string }>
  }>
}

/** How long the files of one change may take, and how much longer each further file lets a run take. */
const longest = { run: 300_000, file: 60_000 }

const configuration = "vitest.mutants.config.ts"

/** The checkout's own configuration, with its report in a place of the copy's own. */
const configurationText = (report: string): string =>
  `import own from "./vitest.config.ts"
export default { ...own, test: { ...own.test, reporters: [["json", { outputFile: ${JSON.stringify(report)} }]] } }
`

const shown = (report: string, code: number | null, log: string): Shown => {
  if (!fs.existsSync(report)) return { how: "broken", log }
  const { numPassedTests, testResults }: Report = JSON.parse(fs.readFileSync(report, "utf8"))
  const failed = testResults.flatMap(({ assertionResults }) => assertionResults)
    .find(({ status }) => status === "failed")
  if (failed !== undefined) return { how: "red", title: failed.title }
  return code === 0 ? { how: "green", tests: numPassedTests } : { how: "broken", log }
}

/** Runs the files in the directory with so many workers. */
export const run = (directory: string, files: ReadonlyArray<string>, workers: number): Promise<Shown> =>
  new Promise((resolve) => {
    const report = path.join(directory, "report.json")
    fs.rmSync(report, { force: true })
    fs.writeFileSync(path.join(directory, configuration), configurationText(report))
    const vitest = path.join(directory, "node_modules/vitest/vitest.mjs")
    const child = spawn(
      process.execPath,
      [vitest, "run", ...files, "--config", configuration, "--bail=1", `--maxWorkers=${workers}`],
      { cwd: directory, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, CI: "true" } }
    )
    let log = ""
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        log = `${log}${chunk.toString("utf8")}`.slice(-4000)
      })
    }
    const timer = setTimeout(() => child.kill("SIGTERM"), longest.run + files.length * longest.file)
    child.on("close", (code) => {
      clearTimeout(timer)
      resolve(shown(report, code, log))
    })
  })
