/** An operator's queries of journals: if they are whole, their newest checkpoints, and what they hold. */
import { Context, Effect, Schema, Stream } from "effect"
import { Checkpoint, PublicJwk } from "../../domain/journal/Checkpoint.ts"
import { JournalEvent } from "../../domain/journal/JournalEvent.ts"
import { Db } from "../../ports/Db.ts"
import { Journal } from "../../ports/journal/Journal.ts"
import { existing } from "../Journaled.ts"
import { streamed, useCase, type WordedFailure } from "../UseCase.ts"

/** The head of a journal, without a signature: earlier versions wrote it. */
const Head = Schema.Struct({ organization: Schema.String, sequence: Schema.Int, hash: Schema.String })

/** A checkpoint that was kept outside the database. */
export const KeptProof = Schema.Union([Checkpoint, Head])
export type KeptProof = typeof KeptProof.Type

const Asked = Schema.Struct({
  /** Null for all of them, here and below. */
  organization: Schema.NullOr(Schema.String),
  checkpoints: Schema.Array(KeptProof),
  public_keys: Schema.Array(PublicJwk)
})

const Verified = Schema.Struct({
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

/** Verifies journals, which none of the service's secrets are needed for. */
export class JournalProofs extends Context.Service<JournalProofs, {
  verify(asked: typeof Asked.Type): Effect.Effect<typeof Verified.Type, WordedFailure>
}>()("org-security-console/operator/journal/Journals/JournalProofs") {}

const Chosen = Schema.Struct({ organization: Schema.NullOr(Schema.String) })
const Newest = Schema.Struct({ checkpoints: Schema.Array(Checkpoint), keys: Schema.Array(PublicJwk) })

const From = Schema.Struct({ organization: Schema.String, after_sequence: Schema.Natural })
const Page = Schema.Struct({
  events: Schema.Array(Schema.toEncoded(JournalEvent)),
  checkpoints: Schema.Array(Schema.toEncoded(Checkpoint)),
  keys: Schema.Array(PublicJwk),
  last_sequence: Schema.Int
})

/** Signs journals, and reads them with their signatures. */
export class SignedJournals extends Context.Service<SignedJournals, {
  checkpoint(chosen: typeof Chosen.Type): Effect.Effect<typeof Newest.Type, WordedFailure>
  pages(from: typeof From.Type): Stream.Stream<typeof Page.Type, WordedFailure>
}>()("org-security-console/operator/journal/Journals/SignedJournals") {}

export const verifyJournal = useCase(
  "journal_verify",
  Asked,
  Verified,
  (asked) => Effect.flatMap(JournalProofs, (proofs) => proofs.verify(asked))
)

export const checkpoint = useCase(
  "journal_checkpoint",
  Chosen,
  Newest,
  (chosen) => Effect.flatMap(SignedJournals, (journals) => journals.checkpoint(chosen))
)

/** Pages of the journal in its order, each with the checkpoints of its events. */
export const exportJournal = streamed(
  "journal_export",
  From,
  Page,
  (from) => Stream.unwrap(Effect.map(SignedJournals, (journals) => journals.pages(from)))
)

/** The events after a sequence, oldest first; without one, the newest. */
export const tailJournal = useCase(
  "journal_tail",
  Schema.Struct({
    organization: Schema.String,
    after_sequence: Schema.NullOr(Schema.Natural),
    limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 }))
  }),
  Schema.Struct({ events: Schema.Array(JournalEvent), last_sequence: Schema.Int }),
  ({ after_sequence, limit, organization }) =>
    Effect.gen(function*() {
      const journal = yield* Journal
      const id = yield* existing(organization)
      return yield* (yield* Db).read(
        id,
        Effect.gen(function*() {
          const after = after_sequence ??
            Math.max((yield* journal.tail(id, 0, 1)).head.sequence - limit, 0)
          const { events, head } = yield* journal.tail(id, after, limit)
          return { events, last_sequence: head.sequence }
        })
      )
    })
)
