/** What an operator can ask of journals: whether they are whole, where they stand, and what they hold. */
import { Duration, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { OrganizationId } from "../domain/Access.ts"
import { JournalEvent } from "../domain/JournalEvent.ts"
import * as Journal from "../layers/sql/Journal.ts"
import * as Provisioning from "../layers/sql/Provisioning.ts"
import * as Tenant from "../layers/sql/Tenant.ts"
import { command, existing, refuse } from "./Declared.ts"

const Checkpoint = Schema.Struct({ organization: Schema.String, sequence: Schema.Int, hash: Schema.String })

/** The organizations named, or all of them. */
const chosen = Effect.fnUntraced(function*(organization: string | null) {
  const sql = yield* SqlClient.SqlClient
  return organization === null
    ? (yield* Tenant.directory(sql)(Provisioning.organizationIds)).map((id) => OrganizationId.make(id))
    : [yield* existing(organization)]
})

export const verifyJournal = command(
  "verify_journal",
  Schema.Struct({ organization: Schema.NullOr(Schema.String), checkpoints: Schema.Array(Checkpoint) }),
  Schema.Struct({
    ok: Schema.Boolean,
    journals: Schema.Array(Schema.Struct({
      organization: Schema.String,
      ok: Schema.Boolean,
      sequence: Schema.Int,
      hash: Schema.NullOr(Schema.String),
      reason: Schema.NullOr(Schema.String)
    }))
  }),
  ({ checkpoints, organization }) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
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
      const here: ReadonlySet<string> = new Set(ids)
      const missing = [...new Set(named.map((checkpoint) => checkpoint.organization))].filter((id) => !here.has(id))
      const found = yield* Effect.forEach(ids, (id) =>
        Effect.map(
          Tenant.transaction(sql, id, { access: "read", deadline: Duration.hours(1) })(
            Journal.verify(id, checkpoints.filter((checkpoint) => checkpoint.organization === id))
          ),
          (state) => ({
            organization: id,
            ok: state.ok,
            sequence: state.sequence,
            hash: state.ok ? state.hash : null,
            reason: state.ok ? null : state.reason
          })
        ))
      const journals = [
        ...found,
        ...missing.map((id) => ({ organization: id, ok: false, sequence: 0, hash: null, reason: "missing" }))
      ]
      return { ok: journals.every(({ ok }) => ok), journals }
    })
)

export const checkpoint = command(
  "checkpoint",
  Schema.Struct({ organization: Schema.NullOr(Schema.String) }),
  Schema.Struct({ checkpoints: Schema.Array(Checkpoint) }),
  ({ organization }) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const checkpoints = yield* Effect.forEach(yield* chosen(organization), (id) =>
        Effect.map(
          Tenant.transaction(sql, id)(Journal.head(id)),
          (head) => ({ organization: id, ...head })
        ))
      return { checkpoints }
    })
)

const encodeEvent = (event: typeof JournalEvent.Type) => Effect.orDie(Schema.encodeEffect(JournalEvent)(event))

/** One page of the journal in its order, for an export that asks for page after page. */
export const exportJournal = command(
  "export_journal",
  Schema.Struct({ organization: Schema.String, after_sequence: Schema.Natural, limit: Schema.Natural }),
  Schema.Struct({ events: Schema.Array(Schema.toEncoded(JournalEvent)), last_sequence: Schema.Int }),
  ({ after_sequence, limit, organization }) =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const id = yield* existing(organization)
      return yield* Tenant.transaction(sql, id)(Effect.gen(function*() {
        const events = yield* Journal.tail(id, after_sequence, limit)
        return { events: yield* Effect.forEach(events, encodeEvent), last_sequence: (yield* Journal.head(id)).sequence }
      }))
    })
)
