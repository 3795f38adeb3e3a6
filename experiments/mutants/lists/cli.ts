import { change, type MutantsByFile } from "../mutant.ts"

export const cli: MutantsByFile = {
  "src/cli/process/Control.ts": [
    change({ in: "listening", replace: "0o600", by: "0o666" })
      .loses("everybody on the machine administers the service")
      .seenBy("test/cli/serve.test.ts")
  ],
  "src/cli/commands/journal/JournalRequests.ts": [
    change({ in: "ok", replace: "every", by: "some" })
      .loses("one whole journal hides a broken one")
      .seenBy("test/cli/journal.test.ts")
  ],
  "src/cli/settings/StartChecks.ts": [
    change({ in: "refuse", replace: "\"http:\"", by: "\"ftp:\"" })
      .loses("passwords and keys travel in the clear")
      .seenBy("test/cli/startChecks.test.ts")
  ],
  "src/cli/commands/DemoReset.ts": [
    change({
      in: "refuseOthers",
      replace:
        "if (real !== undefined) return yield* refuse(`${directory} holds the organization ${real.id}: it is no demo.`)",
      by: ""
    })
      .loses("starting the demo over removes a real organization")
      .seenBy("test/cli/serve.test.ts")
  ]
}
