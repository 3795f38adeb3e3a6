import type { Mutant } from "../list.ts"

export const cli: ReadonlyArray<Mutant> = [
  {
    file: "src/cli/Control.ts",
    line: "fs.chmodSync(file, 0o600)",
    becomes: "fs.chmodSync(file, 0o666)",
    why: "everybody on the machine administers the service",
    tests: ["test/cli/serve.test.ts"]
  },
  {
    file: "src/cli/Journals.ts",
    line: "return { ok: journals.every(({ ok }) => ok), journals }",
    becomes: "return { ok: journals.some(({ ok }) => ok), journals }",
    why: "one whole journal hides a broken one",
    tests: ["test/cli/journal.test.ts"]
  }
]
