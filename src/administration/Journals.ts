/** What an operator can ask of journals: whether they are whole, their newest checkpoints, and what they hold. */
import { Schema } from "effect"
import { Checkpoint, PublicJwk } from "../domain/Checkpoint.ts"
import { JournalEvent } from "../domain/JournalEvent.ts"
import { contract } from "./UseCase.ts"

/** Where a journal stood, without a signature: what earlier versions wrote. */
const Head = Schema.Struct({ organization: Schema.String, sequence: Schema.Int, hash: Schema.String })

/** A checkpoint that somebody kept outside the database. */
export const Kept = Schema.Union([Checkpoint, Head])
export type Kept = typeof Kept.Type

export const verifyJournal = contract(
  "verify_journal",
  Schema.Struct({
    /** Null for all of them, here and below. */
    organization: Schema.NullOr(Schema.String),
    checkpoints: Schema.Array(Kept),
    public_keys: Schema.Array(PublicJwk)
  }),
  Schema.Struct({
    ok: Schema.Boolean,
    journals: Schema.Array(Schema.Struct({
      organization: Schema.String,
      ok: Schema.Boolean,
      sequence: Schema.Int,
      hash: Schema.NullOr(Schema.String),
      reason: Schema.NullOr(Schema.String)
    })),
    checkpoints: Schema.Struct({
      ok: Schema.Boolean,
      number: Schema.Int,
      reason: Schema.NullOr(Schema.String),
      keys: Schema.Array(Schema.String)
    })
  })
)

export const checkpoint = contract(
  "checkpoint",
  Schema.Struct({ organization: Schema.NullOr(Schema.String) }),
  Schema.Struct({ checkpoints: Schema.Array(Checkpoint), keys: Schema.Array(PublicJwk) })
)

/** Pages of the journal in its order, each with the checkpoints of its events. */
export const exportJournal = contract(
  "export_journal",
  Schema.Struct({ organization: Schema.String, after_sequence: Schema.Natural }),
  Schema.Struct({
    events: Schema.Array(Schema.toEncoded(JournalEvent)),
    checkpoints: Schema.Array(Schema.toEncoded(Checkpoint)),
    keys: Schema.Array(PublicJwk),
    last_sequence: Schema.Int
  })
)
