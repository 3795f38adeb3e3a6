/** The commands about archives. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { Refused } from "../../../operator/UseCase.ts"
import { asking, organization, sending } from "../OperatorCommand.ts"
import * as Output from "../Output.ts"
import { key } from "./ArchiveKeyCommands.ts"
import { exportArchive } from "./ExportCommand.ts"
import { verifyExport } from "./PartCommand.ts"

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
