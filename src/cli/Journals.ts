/** What an operator can ask of journals: whether they are whole, their newest checkpoints, and what they hold. */
import { Duration, Effect, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { OrganizationId } from "../domain/Access.ts"
import { Checkpoint } from "../domain/Checkpoint.ts"
import { JournalEvent } from "../domain/JournalEvent.ts"
import { CheckpointKeys, judge, PublicJwk } from "../layers/crypto/CheckpointKeys.ts"
import * as Checkpoints from "../layers/sql/Checkpoints.ts"
import * as Journal from "../layers/sql/Journal.ts"
import * as Proofs from "../layers/sql/Proofs.ts"
import * as Provisioning from "../layers/sql/Provisioning.ts"
import * as Tenant from "../layers/sql/Tenant.ts"
import { command, existing, refuse } from "./Declared.ts"

/** Where a journal stood, without a signature: what earlier versions wrote. */
const Head = Schema.Struct({ organization: Schema.String, sequence: Schema.Int, hash: Schema.String })

/** A checkpoint that somebody kept outside the database. */
export const Kept = Schema.Union([Checkpoint, Head])
type Kept = typeof Kept.Type

const isSigned = Schema.is(Schema.toType(Checkpoint))

/** The organizations named, or all of them. */
const chosen = Effect.fnUntraced(function*(organization: string | null) {
  const sql = yield* SqlClient.SqlClient
  return organization === null
    ? (yield* Tenant.directory(sql)(Provisioning.organizationIds)).map((id) => OrganizationId.make(id))
    : [yield* existing(organization)]
})

/** What one journal proves: that it is whole, agrees with every checkpoint of it, and is signed as far as it should be. */
const prove = Effect.fnUntraced(function*(id: OrganizationId, kept: ReadonlyArray<Kept>) {
  const state = yield* Journal.verify(id, kept)
  if (!state.ok) return { organization: id, ok: false, sequence: state.sequence, hash: null, reason: state.reason }
  const unsigned = yield* Proofs.unsigned(id)
  return Option.isSome(unsigned)
    ? { organization: id, ok: false, sequence: unsigned.value, hash: null, reason: "unsigned" }
    : { organization: id, ok: true, sequence: state.sequence, hash: state.hash, reason: null }
})

export const verifyJournal = command(
  "verify_journal",
  Schema.Struct({
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
  }),
  ({ checkpoints, organization, public_keys }) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const own = yield* Effect.serviceOption(CheckpointKeys)
      const keys = [...Option.match(own, { onNone: () => [], onSome: ({ publicKeys }) => publicKeys }), ...public_keys]
      const ids = yield* chosen(organization)
      if (ids.length === 0 && checkpoints.length === 0) {
        return yield* refuse("There is no journal: the database has no organizations.")
      }
      const named = checkpoints.filter((checkpoint) =>
        organization === null || checkpoint.organization === organization
      )
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
      const found = yield* Effect.forEach(ids, (id) =>
        Tenant.transaction(sql, id, { access: "read", deadline: Duration.hours(1) })(
          prove(id, named.filter((checkpoint) => checkpoint.organization === id))
        ))
      const journals = [
        ...found,
        ...missing.map((id) => ({ organization: id, ok: false, sequence: 0, hash: null, reason: "missing" }))
      ]
      return {
        ok: chain.ok && journals.every(({ ok }) => ok),
        journals,
        checkpoints: chain.ok ? { ...chain, reason: null } : { ...chain, keys: [] }
      }
    })
)

/** The newest checkpoint of the organization, within its transaction. */
const newest = (id: OrganizationId) => Effect.map(Checkpoints.newest(id), Option.toArray)

export const checkpoint = command(
  "checkpoint",
  Schema.Struct({ organization: Schema.NullOr(Schema.String) }),
  Schema.Struct({ checkpoints: Schema.Array(Checkpoint), keys: Schema.Array(PublicJwk) }),
  ({ organization }) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ids = yield* chosen(organization)
      yield* Checkpoints.sign(true)
      const checkpoints = yield* Effect.forEach(ids, (id) => Tenant.transaction(sql, id)(newest(id)))
      return { checkpoints: checkpoints.flat(), keys: (yield* CheckpointKeys).publicKeys }
    })
)

const encodeEvent = (event: typeof JournalEvent.Type) => Effect.orDie(Schema.encodeEffect(JournalEvent)(event))
const encodeCheckpoint = (made: Checkpoint) => Effect.orDie(Schema.encodeEffect(Checkpoint)(made))

/** One page of the journal in its order, for an export that asks for page after page. */
export const exportJournal = command(
  "export_journal",
  Schema.Struct({ organization: Schema.String, after_sequence: Schema.Natural, limit: Schema.Natural }),
  Schema.Struct({
    events: Schema.Array(Schema.toEncoded(JournalEvent)),
    checkpoints: Schema.Array(Schema.toEncoded(Checkpoint)),
    keys: Schema.Array(PublicJwk),
    last_sequence: Schema.Int
  }),
  ({ after_sequence, limit, organization }) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const id = yield* existing(organization)
      const { publicKeys } = yield* CheckpointKeys
      return yield* Tenant.transaction(sql, id)(Effect.gen(function*() {
        const events = yield* Journal.tail(id, after_sequence, limit)
        const last = events.at(-1)?.sequence ?? after_sequence
        return {
          events: yield* Effect.forEach(events, encodeEvent),
          checkpoints: yield* Effect.forEach(yield* Checkpoints.between(id, after_sequence, last), encodeCheckpoint),
          keys: publicKeys,
          last_sequence: (yield* Journal.head(id)).sequence
        }
      }))
    })
)
