import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/databaseSetup.ts", "test/support/programSetup.ts"],
    silent: "passed-only",
    pool: "forks",
    maxWorkers: 2,
    passWithNoTests: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 20_000,
    reporters: ["default", ["json", { outputFile: "node_modules/.cache/test-results.json" }]]
  }
})
