import { defineConfig } from "vitest/config"
import { Longest } from "./test/support/run/runOrder.ts"

/** The files of each project; what no other names is `postgres`. */
const files = {
  process: [
    "test/cli/**/*.test.ts",
    "test/readme/**/*.test.ts",
    "test/mcp/{clients,conformance,handover,stdio}.test.ts",
    "test/http/pages/{browser,signin/passkeys,signin/providerBrowser}.test.ts",
    "{bench,experiments}/**/*.test.ts"
  ],
  property: ["test/properties/**/*.test.ts"],
  spec: ["test/{spec,kernel,added,http,mcp,oauth}/**/*.test.ts"],
  unit: ["test/{domain,transport,repository}/**/*.test.ts", "test/layers/{crypto,documents,identity}/**/*.test.ts"]
}

const project = (name: string, include: Array<string>, exclude: Array<string> = []) => ({
  test: {
    name,
    include,
    exclude,
    pool: "forks" as const,
    // With V8's own 16 MB an eighth of a worker's processor time goes into collecting what lives for one request.
    execArgv: ["--max-semi-space-size=64"],
    // A worker goes on from file to file.
    isolate: false,
    setupFiles: ["test/support/run/leavesNothing.ts"],
    silent: "passed-only" as const,
    testTimeout: 60_000,
    hookTimeout: 120_000
  }
})

export default defineConfig({
  test: {
    globalSetup: "test/support/run/runSetup.ts",
    projects: [
      project("process", files.process),
      project("property", files.property),
      project("postgres", ["test/**/*.test.ts"], Object.values(files).flat()),
      project("spec", files.spec, files.process),
      project("unit", files.unit)
    ],
    sequence: { sequencer: Longest },
    // Three beat two on two processors by a tenth, as tests of processes wait for deadlines and for the disk, and four
    // by a twentieth, as they wait for each other.
    maxWorkers: 3,
    passWithNoTests: false,
    teardownTimeout: 20_000,
    reporters: [
      "default",
      "./test/support/run/projectTimes.ts",
      "./test/support/run/proofReporter.ts",
      ["json", { outputFile: "node_modules/.cache/test-results.json" }]
    ]
  }
})
