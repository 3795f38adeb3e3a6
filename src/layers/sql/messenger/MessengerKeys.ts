import { Clock, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { SessionRef } from "../../../domain/messenger/Messenger.ts"
import { type KeptValue, MessengerKeys } from "../../../ports/messenger/MessengerKeys.ts"
import * as Gcm from "../../crypto/Gcm.ts"
import { keyEncryption } from "../../crypto/security/KeyEncryption.ts"
import * as Tenant from "../../postgres/Tenant.ts"

const keyLength = 32

/** The context that the key of a session is sealed for. */
export const keyContext = (sessionRef: SessionRef): ReadonlyArray<string> => ["messenger_session", sessionRef]

/** The context that a value is sealed for: moved to another session or name it does not open. */
const valueContext = (sessionRef: SessionRef, name: string): ReadonlyArray<string> => [
  "messenger_key",
  sessionRef,
  name
]

interface Row {
  readonly key_sealed: string
  readonly doubted_at: Date | null
  readonly name: string | null
  readonly sealed: string | null
  readonly version: number | null
}

/** The stored values of sessions, in SQL. */
export const layer = Layer.effect(
  MessengerKeys,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const random = yield* SecureRandom.SecureRandom
    const keys = yield* keyEncryption

    const storedKey = (sessionRef: SessionRef) =>
      Effect.map(
        Tenant.ask<{ sealed: string }>(sql, "select sealed from messenger_session where session_ref = $1", [
          sessionRef
        ]),
        ([row]) => row?.sealed
      )

    /** The session's key, made where it has none; of two that are made at once the first stays. */
    const keyOf = Effect.fnUntraced(function*(sessionRef: SessionRef) {
      const context = keyContext(sessionRef)
      const known = yield* storedKey(sessionRef)
      if (known !== undefined) return yield* keys.open(known, context)
      const made = Redacted.make(yield* random.randomBytes(keyLength))
      const sealed = yield* keys.seal(made, context)
      yield* Tenant.ask(
        sql,
        "insert into messenger_session (session_ref, sealed) values ($1, $2) on conflict do nothing",
        [sessionRef, sealed]
      )
      const stored = yield* storedKey(sessionRef)
      return stored === undefined || stored === sealed ? made : yield* keys.open(stored, context)
    })

    return MessengerKeys.of({
      load: Effect.fnUntraced(function*(sessionRef) {
        const rows = yield* Tenant.ask<Row>(
          sql,
          `select messenger_session.sealed as key_sealed, doubted_at, name, messenger_key.sealed, version
            from messenger_session left join messenger_key using (session_ref) where session_ref = $1`,
          [sessionRef]
        )
        const [first] = rows
        if (first === undefined) return null
        const key = yield* keys.open(first.key_sealed, keyContext(sessionRef))
        const values = rows.flatMap(({ name, sealed, version }): ReadonlyArray<[string, KeptValue]> => {
          if (name === null || sealed === null || version === null) return []
          const bytes = Gcm.open(Redacted.value(key), Buffer.from(sealed, "base64url"), valueContext(sessionRef, name))
          return [[name, { value: Redacted.make(new Uint8Array(bytes)), version }]]
        })
        return { values: new Map(values), doubtedAt: first.doubted_at }
      }),
      save: Effect.fnUntraced(function*(sessionRef, name, value, version) {
        const key = yield* keyOf(sessionRef)
        const sealed = Gcm.seal(Redacted.value(key), Redacted.value(value), valueContext(sessionRef, name))
          .toString("base64url")
        const written = version === 0
          ? yield* Tenant.ask(
            sql,
            `insert into messenger_key (session_ref, name, sealed, version) values ($1, $2, $3, 1)
              on conflict do nothing returning version`,
            [sessionRef, name, sealed]
          )
          : yield* Tenant.ask(
            sql,
            `update messenger_key set sealed = $3, version = version + 1
              where session_ref = $1 and name = $2 and version = $4 returning version`,
            [sessionRef, name, sealed, version]
          )
        return written.length > 0
      }),
      doubt: (sessionRef, at) =>
        Effect.asVoid(
          Tenant.ask(sql, "update messenger_session set doubted_at = $2 where session_ref = $1", [sessionRef, at])
        ),
      erase: (sessionRef) =>
        Effect.asVoid(Tenant.ask(sql, "delete from messenger_session where session_ref = $1", [sessionRef]))
    })
  })
)

/**
 * Deletes the keys of sessions that are no longer used: of accounts that are gone, of sessions that have ended, and of
 * logins that came to nothing, once nothing of them is left to be taken back. A session is recorded before
 * there is a key.
 */
export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* Tenant.ask(
    sql,
    `delete from messenger_session
      where not exists (select from service_session where service_session.session_ref = messenger_session.session_ref)
        and not exists (
          select from login where login.session_ref = messenger_session.session_ref
            and (state in ('code_sent', 'password_needed') or state_sealed is not null or busy_until > $1))`,
    [new Date(yield* Clock.currentTimeMillis)]
  )
})
