/** The answer of a verification of the archive, and the place where it goes on. */
import { Schema } from "effect"
import { Count, described, Kind, OptionalTimestamp, Timestamp } from "../JsonShapes.ts"

const Checkpoint = Schema.Struct({
  number: described(Count, "The checkpoint's number."),
  sequence: described(Count, "The last event of the journal that it signs."),
  at: described(Timestamp, "When it was signed.")
}).annotate({ identifier: "archive_checkpoint" })

export const ArchiveVerification = Schema.Struct({
  object: Kind("archive_verification"),
  pages: described(Count, "Pages that were read and compared, frame by frame."),
  missing: described(Count, "Pages that a manifest covers and that are gone without a journaled deletion."),
  changed: described(Count, "Pages whose frames, ids, times or counts are not those that were stored."),
  added: described(Count, "Pages that are among covered ones, and that no manifest covers."),
  unproven: described(
    Count,
    "Manifests that were changed, or that the journal does not have: their pages may be anything."
  ),
  not_covered: described(Count, "Pages that are newer than their account's newest manifest."),
  covered_until: described(OptionalTimestamp, "When the oldest of these newest manifests was made; null without one."),
  checkpoint: described(
    Schema.NullOr(Checkpoint),
    "The newest signed checkpoint of the journal, where it covers every manifest of this call; null where it does not yet."
  ),
  complete: described(Schema.Boolean, "Whether this call reached the end."),
  cursor: described(
    Schema.NullOr(Schema.String),
    "The place to go on from; null at the end. Add up the counts of all calls."
  )
}).annotate({ identifier: "archive_verification" })
export type ArchiveVerification = typeof ArchiveVerification.Type

/** The place where a verification goes on: after a round of the journal, or after an account's manifest. */
export type VerificationPlace =
  | { readonly step: "rounds"; readonly round: bigint }
  | { readonly step: "pages"; readonly accountId: string; readonly sequence: bigint }

const written = /^(?:r\.(\d{1,18})|p\.([0-9a-f-]{36})?\.(\d{1,18}))$/u

export const VerificationCursor = Schema.String.check(Schema.isMaxLength(64))

/** Null where the text is no cursor. */
export const readPlace = (text: string): VerificationPlace | null => {
  const [, round, accountId = "", sequence] = written.exec(text) ?? []
  if (round !== undefined) return { step: "rounds", round: BigInt(round) }
  return sequence === undefined ? null : { step: "pages", accountId, sequence: BigInt(sequence) }
}

export const writePlace = (place: VerificationPlace): string =>
  place.step === "rounds" ? `r.${place.round}` : `p.${place.accountId}.${place.sequence}`
