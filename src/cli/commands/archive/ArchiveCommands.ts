/** The commands about archives. */
import { Effect, Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import { Refused } from "../../../operator/UseCase.ts"
import { asking, organization, passwordInput, sending } from "../DatabaseCommand.ts"
import * as Output from "../Output.ts"
import { exportArchive } from "./ExportCommand.ts"
import { verifyExport } from "./PartCommand.ts"

const set = Command.make(
  "set",
  asking({
    organization,
    replace: Flag.Boolean("replace").pipe(
      Flag.withDescription("Make a new key where there is one: what is archived until now can be read no more"),
      Flag.withDefault(false)
    )
  }),
  (input) =>
    Effect.flatMap(passwordInput("Archive password"), (password) => {
      const send = sending(
        (requests, asked: typeof input.asked) =>
          Effect.map(requests.archive_key_set({ ...asked, password }), ({ organization, recovery_code }) => ({
            organization,
            recovery_code: Redacted.value(recovery_code)
          })),
        ({ organization, recovery_code }) => [
          `The archive of ${organization} has its password. Keep this recovery code, which is shown this once:`,
          recovery_code
        ]
      )
      return send(input)
    })
).pipe(
  Command.withDescription("Set the password of an organization's archive, by prompt or standard input"),
  Output.examples(["archive key set acme", "By prompt"], [
    "archive key set acme < password.txt",
    "From the first line of a file"
  ])
)

const key = Command.make("key").pipe(
  Command.withDescription("Set the key that archives are sealed to"),
  Command.withSubcommands([set])
)

const verify = Command.make(
  "verify",
  asking({ organization }),
  (input) =>
    Effect.flatMap(
      sending(
        (requests, asked: typeof input.asked) => requests.archive_verify(asked),
        (found) => [
          `${found.organization}: ${found.pages} pages ${found.ok ? "are as they were stored" : "were read"}`,
          ...(found.ok ? [] : [
            `FAULTS: ${found.missing} missing, ${found.changed} changed, ${found.added} added, ${found.unproven} manifests not proven`
          ]),
          `${found.not_covered} pages are newer than the last manifests`,
          found.checkpoint === null
            ? "No signed checkpoint covers all manifests yet."
            : `Checkpoint ${found.checkpoint} covers the manifests. The command journal verify checks it.`
        ],
        { reads: true }
      )(input),
      ({ ok }) => ok ? Effect.void : Effect.fail(new Refused({ message: "The archive is not as it was stored." }))
    )
).pipe(
  Command.withDescription(
    "Compare an organization's archive with the manifests that the journal covers; exit code 1 where it differs"
  ),
  Output.examples(["archive verify acme", "Needs no archive password"])
)

export const archive = Command.make("archive").pipe(Command.withSubcommands([key, verify, exportArchive, verifyExport]))
