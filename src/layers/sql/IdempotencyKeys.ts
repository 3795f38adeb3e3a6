import canonicalize from "canonicalize"
import { Clock, Duration, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as crypto from "node:crypto"
import { IdempotencyInProgress, IdempotencyKeyReused } from "../../domain/Failure.ts"
import { idempotencyClaim, idempotencyKept } from "../../domain/Limits.ts"
import { IdempotencyKeys, type KeyedRequest, type KeyState } from "../../ports/IdempotencyKeys.ts"
import { hmac, Peppers } from "../crypto/Peppers.ts"
import { Vault } from "../crypto/Vault.ts"
import * as Tenant from "../postgres/Tenant.ts"

interface Row {
  readonly body_hmac: string
  readonly pepper_id: string
  readonly answer_sealed: string | null
  readonly claimed_at: Date
}

const digestOf = (key: string): string => crypto.createHash("sha256").update(key).digest("hex")

const sealedFor = ({ caller, key, operation }: KeyedRequest): ReadonlyArray<string> => [
  caller.organizationId,
  caller.credential.id,
  operation,
  digestOf(key)
]

/** A text with a lone surrogate, which has no canonical JSON, as the numbers of its code units. */
const codeUnits = (_: string, value: unknown): unknown =>
  typeof value === "string" && !value.isWellFormed()
    ? Array.from({ length: value.length }, (_, at) => value.charCodeAt(at))
    : value

/** The content of a request as one text, the same however its members are ordered. */
const contentOf = ({ input, operation }: KeyedRequest): string =>
  canonicalize(JSON.parse(JSON.stringify([operation, input], codeUnits))) ?? ""

const before = (now: number, duration: Duration.Duration): Date => new Date(now - Duration.toMillis(duration))

/** Keys in the database, so that every replica knows them; the process that inserts the row first runs the request. */
export const layer = Layer.effect(
  IdempotencyKeys,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const peppers = yield* Peppers
    const vault = yield* Vault
    const random = yield* SecureRandom.SecureRandom

    const rowOf = ({ caller, key, operation }: KeyedRequest) =>
      sql.and([
        sql`organization_id = ${caller.organizationId}`,
        sql`credential_id = ${caller.credential.id}`,
        sql`operation = ${operation}`,
        sql`digest = ${digestOf(key)}`
      ])

    /** True if the row was made for the same request: a digest without a secret would let a short code be guessed. */
    const isSame = (row: Row, body: string): boolean => {
      const pepper = peppers.find(({ id }) => id === row.pepper_id)
      return pepper !== undefined &&
        crypto.timingSafeEqual(Buffer.from(hmac(pepper, body)), Buffer.from(row.body_hmac))
    }

    const rowIn = (request: KeyedRequest) =>
      Effect.map(
        Effect.orDie(sql<Row>`
          select body_hmac, pepper_id, answer_sealed, claimed_at from idempotency_key where ${rowOf(request)}`),
        ([row]) => row
      )

    const open = (request: KeyedRequest, sealed: string) =>
      Effect.map(vault.open(sealed, sealedFor(request)), Redacted.value)

    return {
      answer: Effect.fnUntraced(function*(request) {
        const now = yield* Clock.currentTimeMillis
        return yield* Tenant.transaction(sql, request.caller.organizationId)(Effect.gen(function*() {
          const row = yield* rowIn(request)
          if (row === undefined || row.answer_sealed === null || row.claimed_at <= before(now, idempotencyKept)) {
            return null
          }
          if (!isSame(row, contentOf(request))) return yield* new IdempotencyKeyReused({})
          return yield* open(request, row.answer_sealed)
        }))
      }),

      claim: Effect.fnUntraced(function*(request) {
        const { caller, key, operation } = request
        const now = yield* Clock.currentTimeMillis
        const body = contentOf(request)
        const token = yield* random.uuidV7()
        return yield* Tenant.transaction(sql, caller.organizationId)(Effect.gen(function*() {
          const claimed = yield* Effect.orDie(sql`
            insert into idempotency_key as held ${
            sql.insert({
              organization_id: caller.organizationId,
              credential_id: caller.credential.id,
              operation,
              digest: digestOf(key),
              token,
              body_hmac: hmac(peppers[0], body),
              pepper_id: peppers[0].id,
              claimed_at: new Date(now)
            })
          }
            on conflict (organization_id, credential_id, operation, digest) do update set
              token = excluded.token, body_hmac = excluded.body_hmac, pepper_id = excluded.pepper_id,
              claimed_at = excluded.claimed_at, answer_sealed = null
            where held.claimed_at <= ${before(now, idempotencyKept)}
              or held.answer_sealed is null and held.claimed_at <= ${before(now, idempotencyClaim)}
            returning token`)
          if (claimed.length > 0) return { _tag: "Claimed", claim: { request, token } } satisfies KeyState
          const row = yield* rowIn(request)
          if (row !== undefined && !isSame(row, body)) return yield* new IdempotencyKeyReused({})
          if (row === undefined || row.answer_sealed === null) return yield* new IdempotencyInProgress({})
          return { _tag: "Answered", answer: yield* open(request, row.answer_sealed) } satisfies KeyState
        }))
      }),

      keep: Effect.fnUntraced(function*({ request, token }, answer) {
        const sealed = vault.seal(Redacted.make(answer), sealedFor(request))
        const kept = yield* Effect.orDie(sql`
          update idempotency_key set answer_sealed = ${sealed} where ${rowOf(request)} and token = ${token}
          returning token`)
        if (kept.length === 0) return yield* new IdempotencyInProgress({})
      }),

      release: ({ request, token }) =>
        Tenant.transaction(sql, request.caller.organizationId)(
          Effect.asVoid(Effect.orDie(sql`
            delete from idempotency_key where ${rowOf(request)} and token = ${token} and answer_sealed is null`))
        )
    }
  })
)

/** Forgets the keys that are a day old. */
export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  yield* Tenant.directory(sql)(
    sql`delete from idempotency_key where claimed_at <= ${before(now, idempotencyKept)}`
  )
})
