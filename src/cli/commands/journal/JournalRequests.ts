/** An operator's requests about journals: whether they are whole, their newest checkpoints, and their events. */
import { Duration, Effect, Layer, Option, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Checkpoint } from "../../../domain/journal/Checkpoint.ts"
import { JournalEvent } from "../../../domain/journal/JournalEvent.ts"
import type { OrganizationId } from "../../../domain/people/Access.ts"
import * as Signing from "../../../jobs/journal/sign_checkpoints.ts"
import { CheckpointKeys, judge } from "../../../layers/crypto/journal/CheckpointKeys.ts"
import * as Tenant from "../../../layers/postgres/Tenant.ts"
import * as Checkpoints from "../../../layers/sql/journal/Checkpoints.ts"
import { verify } from "../../../layers/sql/journal/JournalChain.ts"
import { head, tail } from "../../../layers/sql/journal/JournalRows.ts"
import * as Proofs from "../../../layers/sql/journal/Proofs.ts"
import { unsigned } from "../../../layers/sql/journal/Unsigned.ts"
import * as Journals from "../../../operator/journal/Journals.ts"
import { existing } from "../../../operator/Journaled.ts"
import { refuse } from "../../../operator/UseCase.ts"
import { Directory } from "../../../ports/organization/Directory.ts"

const isSigned = Schema.is(Schema.toType(Checkpoint))

/** The organizations named, or all of them. */
const chosen = Effect.fnUntraced(function*(organization: string | null) {
  return organization === null
    ? (yield* (yield* Directory).organizations).map(({ id }) => id)
    : [yield* existing(organization)]
})

/**
 * What one journal proves: that it is whole, agrees with every checkpoint of it, and is signed as far as it should be.
 */
const prove = Effect.fnUntraced(function*(id: OrganizationId, kept: ReadonlyArray<Journals.KeptProof>) {
  const state = yield* verify(id, kept)
  if (!state.ok) return { organization: id, ok: false, sequence: state.sequence, hash: null, reason: state.reason }
  const late = yield* unsigned(id)
  return Option.isSome(late)
    ? { organization: id, ok: false, sequence: late.value.sequence, hash: null, reason: "unsigned" }
    : { organization: id, ok: true, sequence: state.sequence, hash: state.hash, reason: null }
})

export const verifyJournal = Effect.fnUntraced(
  function*({ checkpoints, organization, public_keys }: typeof Journals.verifyJournal.input.Type) {
    const sql = yield* SqlClient.SqlClient
    const own = yield* Effect.serviceOption(CheckpointKeys)
    const keys = [...Option.match(own, { onNone: () => [], onSome: ({ publicKeys }) => publicKeys }), ...public_keys]
    const ids = yield* chosen(organization)
    if (ids.length === 0 && checkpoints.length === 0) {
      return yield* refuse("There is no journal: the database has no organizations.")
    }
    const named = checkpoints.filter((checkpoint) => organization === null || checkpoint.organization === organization)
    if (checkpoints.length > 0 && named.length === 0) {
      return yield* refuse(`No checkpoint is one of ${organization}: it proves nothing.`)
    }
    const signed = checkpoints.filter(isSigned)
    const forged = signed.find((checkpoint) => judge(keys, checkpoint) !== "good")
    if (forged !== undefined) {
      return yield* refuse(`Checkpoint ${forged.number} in the file is not signed by a key that is known.`)
    }
    const chain = yield* Proofs.verifyCheckpoints(keys, signed)
    const here: ReadonlySet<string> = new Set(ids)
    const missing = [...new Set(named.map((checkpoint) => checkpoint.organization))].filter((id) => !here.has(id))
    const found = yield* Effect.forEach(
      ids,
      (id) =>
        Tenant.transaction(sql, id, { access: "read", deadline: Duration.hours(1) })(
          prove(id, named.filter((checkpoint) => checkpoint.organization === id))
        )
    )
    const journals = [
      ...found,
      ...missing.map((id) => ({ organization: id, ok: false, sequence: 0, hash: null, reason: "missing" }))
    ]
    return {
      ok: chain.ok && journals.every(({ ok }) => ok),
      journals,
      checkpoints: chain.ok ? { ...chain, reason: null } : { ...chain, keys: [] }
    }
  }
)

/** The newest checkpoint of the organization, within its transaction. */
const newest = (id: OrganizationId) => Effect.map(Checkpoints.newest(id), Option.toArray)

export const checkpoint = Effect.fnUntraced(
  function*({ organization }: typeof Journals.checkpoint.input.Type) {
    const sql = yield* SqlClient.SqlClient
    const ids = yield* chosen(organization)
    yield* Signing.sign(true)
    const checkpoints = yield* Effect.forEach(ids, (id) => Tenant.transaction(sql, id)(newest(id)))
    return { checkpoints: checkpoints.flat(), keys: (yield* CheckpointKeys).publicKeys }
  }
)

const encodeEvent = (event: typeof JournalEvent.Type) => Effect.orDie(Schema.encodeEffect(JournalEvent)(event))
const encodeCheckpoint = (made: Checkpoint) => Effect.orDie(Schema.encodeEffect(Checkpoint)(made))

const eventsPerPage = 1000

/** One page of the journal in its order. */
const page = Effect.fnUntraced(function*(id: OrganizationId, after: number) {
  const sql = yield* SqlClient.SqlClient
  const { publicKeys } = yield* CheckpointKeys
  return yield* Tenant.transaction(sql, id)(Effect.gen(function*() {
    const events = yield* tail(id, after, eventsPerPage)
    const last = events.at(-1)?.sequence ?? after
    return {
      events: yield* Effect.forEach(events, encodeEvent),
      checkpoints: yield* Effect.forEach(yield* Checkpoints.between(id, after, last), encodeCheckpoint),
      keys: publicKeys,
      last_sequence: (yield* head(id)).sequence
    }
  }))
})

/** Page after page to the journal's end, each read when the one before was taken. */
export const exportJournal = ({ after_sequence, organization }: typeof Journals.exportJournal.input.Type) =>
  Stream.unwrap(
    Effect.map(
      existing(organization),
      (id) =>
        Stream.paginate(after_sequence, (after) =>
          Effect.map(page(id, after), (found) =>
            [
              [found],
              found.events.length < eventsPerPage ? Option.none() : Option.fromNullishOr(found.events.at(-1)?.sequence)
            ] as const))
    )
  )

/** Verifies journals, by the keys of the service too where it has them. */
export const layerProofs = Layer.effect(
  Journals.JournalProofs,
  Effect.map(
    Effect.context<Effect.Services<ReturnType<typeof verifyJournal>>>(),
    (services) => ({ verify: (asked) => Effect.provideContext(verifyJournal(asked), services) })
  )
)

/** Signs and reads journals. */
export const layerSigned = Layer.effect(
  Journals.SignedJournals,
  Effect.map(
    Effect.context<
      Effect.Services<ReturnType<typeof checkpoint>> | Stream.Services<ReturnType<typeof exportJournal>>
    >(),
    (services) => ({
      checkpoint: (chosen) => Effect.provideContext(checkpoint(chosen), services),
      pages: (from) => Stream.provideContext(exportJournal(from), services)
    })
  )
)
