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
    line: "ok: chain.ok && journals.every(({ ok }) => ok),",
    becomes: "ok: chain.ok && journals.some(({ ok }) => ok),",
    why: "one whole journal hides a broken one",
    tests: ["test/cli/journal.test.ts"]
  },
  {
    file: "src/cli/StartChecks.ts",
    line: "if (url.protocol === \"http:\") {",
    becomes: "if (url.protocol === \"ftp:\") {",
    why: "passwords and keys travel in the clear",
    tests: ["test/cli/startChecks.test.ts"]
  },
  {
    file: "src/cli/DemoReset.ts",
    line:
      "if (real !== undefined) return yield* refuse(`${directory} holds the organization ${real.id}: it is no demo.`)",
    becomes: "",
    why: "starting the demo over removes a real organization",
    tests: ["test/cli/serve.test.ts"]
  }
]
