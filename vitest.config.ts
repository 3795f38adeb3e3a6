import { defineConfig } from "vitest/config"
import { Longest } from "./test/support/runOrder.ts"

/** The files of each kind; what none of them names is of the specification, over HTTP and MCP without a process. */
const files = {
  process: [
    "test/cli/**/*.test.ts",
    "test/readme/**/*.test.ts",
    "test/mcp/{clients,conformance,handover,stdio}.test.ts",
    "test/pages/browser.test.ts",
    "test/{bench,fuzz,trials}/**/*.test.ts"
  ],
  property: ["test/laws/**/*.test.ts"],
  postgres: ["test/layers/sql/**/*.test.ts"],
  unit: ["test/{domain,edge,house}/**/*.test.ts", "test/layers/{crypto,documents}/**/*.test.ts"]
}

/** Those whose workers go on from file to file. */
const shared = ["property", "postgres", "spec", "unit"]

const project = (name: string, include: Array<string>, exclude: Array<string> = []) => ({
  test: {
    name,
    include,
    exclude,
    pool: "forks" as const,
    isolate: !shared.includes(name),
    setupFiles: shared.includes(name) ? ["test/support/leavesNothing.ts"] : [],
    silent: "passed-only" as const,
    testTimeout: 60_000,
    hookTimeout: 120_000
  }
})

export default defineConfig({
  test: {
    globalSetup: "test/support/runSetup.ts",
    projects: [
      project("process", files.process),
      project("property", files.property),
      project("postgres", files.postgres),
      project("spec", ["test/**/*.test.ts"], Object.values(files).flat()),
      project("unit", files.unit)
    ],
    sequence: { sequencer: Longest },
    maxWorkers: 2,
    passWithNoTests: false,
    teardownTimeout: 20_000,
    reporters: [
      "default",
      "./test/support/projectTimes.ts",
      ["json", { outputFile: "node_modules/.cache/test-results.json" }]
    ]
  }
})
