import { defineConfig } from "vitest/config"
import { Longest } from "./test/support/run/runOrder.ts"

export default defineConfig({
  test: {
    include: ["{test,bench,experiments}/**/*.test.ts"],
    pool: "forks",
    // With V8's own 1 to 16 MB an eighth of a worker's processor time goes into collecting what lives for one request,
    // and as much into better code for the embedded database than its few statements earn.
    // What lives for long is modules: a worker that may grow to three times of it collects half as often.
    execArgv: [
      "--min-semi-space-size=64",
      "--max-semi-space-size=64",
      "--initial-old-space-size=512",
      "--heap-growing-percent=200",
      "--liftoff-only"
    ],
    // A worker goes on from file to file, of whatever kind: vitest never passes one from project to project.
    isolate: false,
    // Node's own loading of modules takes a seventh less of the processor than vite's, whose modules look up each import
    // by its name whenever it is used. Nothing is mocked by its module.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    globalSetup: "test/support/run/runSetup.ts",
    setupFiles: ["test/support/run/leavesNothing.ts"],
    silent: "passed-only",
    testTimeout: 60_000,
    hookTimeout: 120_000,
    sequence: { sequencer: Longest },
    // Three beat two on two processors by a tenth, as tests of processes wait for deadlines and for the disk, and four
    // by a twentieth, as they wait for each other.
    maxWorkers: 3,
    passWithNoTests: false,
    teardownTimeout: 20_000,
    reporters: [
      "default",
      "./test/support/run/runTimes.ts",
      "./test/support/run/proofReporter.ts",
      ["json", { outputFile: "node_modules/.cache/test-results.json" }]
    ]
  }
})
