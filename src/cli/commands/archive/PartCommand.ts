/** The command that verifies a downloaded part of an export. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { readPublicKeys } from "../../../layers/crypto/journal/CheckpointKeys.ts"
import { Refused } from "../../../operator/UseCase.ts"
import * as CheckpointFile from "../journal/CheckpointFile.ts"
import * as Output from "../Output.ts"
import type { PartProof } from "./PartFile.ts"

const checkpoints: Readonly<Record<NonNullable<PartProof["checkpoint"]>, string>> = {
  good: "Its checkpoint was signed by a key that you trust.",
  signature: "FAULT: its checkpoint's signature is not its key's.",
  key: "FAULT: its checkpoint was signed by a key that --public-key does not name."
}

const journals: Readonly<Record<NonNullable<PartProof["journal"]>, string>> = {
  sent: "The journal says that these bytes were sent.",
  other_content: "FAULT: the journal says that other bytes were sent as this part.",
  not_sent: "FAULT: the journal does not say that this part was sent.",
  broken: "FAULT: the journal is broken or another organization's; journal verify says more.",
  other_checkpoint: "FAULT: its checkpoint is not one of the journal."
}

/** Text in a part is by strangers: nothing in it moves a terminal. */
const named = (what: string, paths: ReadonlyArray<string>): ReadonlyArray<string> =>
  Output.columns(paths.map((path) => [what, path]))

const linesOf = (proof: PartProof): ReadonlyArray<string> => [
  ...Output.columns([[
    `${proof.organization}: part ${proof.part} of ${proof.parts} of export ${proof.export}, ${proof.files} files, ${
      proof.missing.length + proof.changed.length + proof.added.length === 0
        ? "all as the manifest says"
        : "NOT as the manifest says"
    }`
  ]]),
  ...named("MISSING", proof.missing),
  ...named("CHANGED", proof.changed),
  ...named("INVENTED", proof.added),
  ...named("ends early, as the manifest says", proof.unreadable),
  ...(proof.checkpoint === null ? [] : [checkpoints[proof.checkpoint]]),
  proof.journal === null
    ? "The manifest is not proven: --journal compares the part with what the journal says was sent."
    : journals[proof.journal]
]

export const verifyExport = Command.make(
  "verify-export",
  {
    file: Argument.String("file").pipe(Argument.withDescription("A part of an export as it was downloaded")),
    journal: Flag.String("journal").pipe(
      Flag.withDescription("An exported journal of the organization, which says what was sent"),
      Flag.optional
    ),
    publicKey: Flag.String("public-key").pipe(
      Flag.withDescription("A file of public keys to believe: what /.well-known/journal-keys answered, or PEM"),
      Flag.optional
    ),
    json: Output.json
  },
  ({ file, journal, json, publicKey }) =>
    Effect.gen(function*() {
      const keys = Option.isNone(publicKey)
        ? Option.none()
        : Option.some(yield* Effect.flatMap(CheckpointFile.readText(publicKey.value), readPublicKeys))
      // The reader of ZIP files is loaded by this command alone.
      const { verifyPart } = yield* Effect.promise(() => import("./PartFile.ts"))
      const proof = yield* verifyPart(file, journal, keys)
      yield* Output.print(json, proof, () => linesOf(proof))
      if (!proof.ok) return yield* new Refused({ message: "The part is not as it was made." })
    })
).pipe(
  Command.withDescription(
    "Compare a downloaded part of an export with its manifest and the journal, offline; exit code 1 where it differs"
  ),
  Output.examples(
    ["archive verify-export part.zip", "Needs no database and no password"],
    ["archive verify-export part.zip --journal journal.jsonl --public-key keys.json", "Proves where it comes from"]
  )
)
