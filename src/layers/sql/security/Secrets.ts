import { Clock, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { candidatesTried, retiredKept } from "../../../domain/Limits.ts"
import { after } from "../../../domain/Moments.ts"
import {
  noCandidates,
  type PasskeyCandidate,
  type PasswordCandidate,
  type SecretSlot,
  type StoredSecret
} from "../../../domain/security/Secrets.ts"
import { passwordBytes, passwordOf } from "../../../domain/security/Security.ts"
import { Db } from "../../../ports/Db.ts"
import {
  type HeldPassword,
  type NewSecret,
  type SealedSecret,
  Secrets,
  type SecretsOf
} from "../../../ports/security/Secrets.ts"
import * as Gcm from "../../crypto/Gcm.ts"
import { keyEncryption } from "../../crypto/security/KeyEncryption.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"

const keyLength = 32

interface Row extends StoredSecret {
  readonly kind: "two_fa" | "passkey"
  readonly passkey_id: string | null
  readonly sealed: string
  readonly key_sealed: string
}

/** The context that the key of an account is sealed for. */
export const keyContext = ({ accountId, organizationId }: SecretsOf): ReadonlyArray<string> => [
  organizationId,
  accountId,
  "data_key"
]

/** The context that a secret is sealed for: moved to another account or row it does not open. */
const contextOf = ({ accountId, organizationId }: SecretsOf, { id, kind }: Pick<Row, "id" | "kind">) => [
  organizationId,
  accountId,
  kind,
  id
]

const sealedUnder = (
  key: Redacted.Redacted<Uint8Array>,
  of: SecretsOf,
  { secret, ...named }: NewSecret,
  id: string
): SealedSecret => {
  const bytes = Buffer.from(Redacted.value(secret))
  return {
    ...named,
    id,
    sealed: Gcm.seal(Redacted.value(key), bytes, contextOf(of, { ...named, id })).toString("base64url")
  }
}

/** The columns of a row. */
const columnsOf = (
  { accountId, organizationId }: SecretsOf,
  { id, kind, passkeyId, sealed }: SealedSecret,
  slot: SecretSlot,
  now: Date
) => ({
  organization_id: organizationId,
  account_id: accountId,
  id,
  kind,
  slot,
  passkey_id: passkeyId ?? null,
  sealed,
  made_at: now
})

/**
 * Gives a new account the secrets that are held of it, as seed files describe them, within the caller's transaction.
 */
export const provision = Effect.fnUntraced(function*(of: SecretsOf, secrets: ReadonlyArray<NewSecret>) {
  if (secrets.length === 0) return
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const keys = yield* keyEncryption
  const now = new Date(yield* Clock.currentTimeMillis)
  const key = Redacted.make(yield* random.randomBytes(keyLength))
  const { accountId, organizationId } = of
  const sealed = yield* keys.seal(key, keyContext(of))
  yield* Effect.orDie(sql`
    insert into account_key ${sql.insert({ organization_id: organizationId, account_id: accountId, sealed })}`)
  for (const secret of secrets) {
    const made = sealedUnder(key, of, secret, yield* random.uuidV7())
    yield* Effect.orDie(sql`insert into account_secret ${sql.insert(columnsOf(of, made, "held", now))}`)
  }
})

const open = (key: Redacted.Redacted<Uint8Array>, of: SecretsOf, row: Row): Redacted.Redacted =>
  Redacted.make(
    Gcm.open(Redacted.value(key), Buffer.from(row.sealed, "base64url"), contextOf(of, row)).toString("utf8")
  )

/** The secrets in SQL, each under its account's key. */
export const layer = Layer.effect(
  Secrets,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const db = yield* Db
    const random = yield* SecureRandom.SecureRandom
    const keys = yield* keyEncryption

    const ofAccount = ({ accountId, organizationId }: SecretsOf) =>
      sql`organization_id = ${organizationId} and account_id = ${accountId}`

    const storedKey = (of: SecretsOf) =>
      sql<{ sealed: string }>`select sealed from account_key where ${ofAccount(of)}`.pipe(
        Effect.orDie,
        Effect.map(([row]) => row?.sealed)
      )

    /** The account's key, made where it has none; of two that are made at once the first stays. */
    const keyOf = Effect.fnUntraced(function*(of: SecretsOf) {
      const { accountId, organizationId } = of
      const known = yield* db.read(organizationId, storedKey(of))
      if (known !== undefined) return yield* keys.open(known, keyContext(of))
      const made = Redacted.make(yield* random.randomBytes(keyLength))
      const sealed = yield* keys.seal(made, keyContext(of))
      const stored = yield* db.transaction(
        organizationId,
        Effect.andThen(
          Effect.orDie(sql`
            insert into account_key ${sql.insert({ organization_id: organizationId, account_id: accountId, sealed })}
            on conflict do nothing`),
          storedKey(of)
        )
      )
      return stored === undefined || stored === sealed ? made : yield* keys.open(stored, keyContext(of))
    })

    const newPassword: Secrets["Service"]["newPassword"] = Effect.flatMap(
      random.randomBytes(passwordBytes),
      (bytes) => {
        const made = passwordOf(bytes)
        return made === null ? newPassword : Effect.succeed(made)
      }
    )

    return Secrets.of({
      newPassword,

      candidates: Effect.fnUntraced(function*(of) {
        const rows = yield* db.read(
          of.organizationId,
          Effect.orDie(sql<Row>`
            select id, kind, slot, passkey_id, account_secret.sealed, erase_at, account_key.sealed as key_sealed
            from account_secret join account_key using (organization_id, account_id)
            where ${ofAccount(of)}
            order by array_position(array['held', 'next', 'retired'], slot), made_at desc, id`)
        )
        const [first] = rows
        if (first === undefined) return noCandidates
        const key = yield* keys.open(first.key_sealed, keyContext(of))
        return {
          passwords: rows.filter(({ kind }) => kind === "two_fa").slice(0, candidatesTried)
            .map(({ erase_at, id, slot, ...row }): PasswordCandidate => ({
              id,
              slot,
              erase_at,
              password: open(key, of, { erase_at, id, slot, ...row })
            })),
          passkeys: rows.flatMap(({ erase_at, id, passkey_id, slot }): ReadonlyArray<PasskeyCandidate> =>
            passkey_id === null ? [] : [{ id, slot, erase_at, passkeyId: passkey_id }]
          )
        }
      }),

      seal: Effect.fnUntraced(function*(of, secret) {
        return sealedUnder(yield* keyOf(of), of, secret, yield* random.uuidV7())
      }),

      put: Effect.fnUntraced(function*(of, secret, slot, now) {
        yield* post(sql`
          update account_secret set slot = 'retired', erase_at = null
          where ${ofAccount(of)} and kind = ${secret.kind} and slot = ${slot}`)
        yield* post(sql`insert into account_secret ${sql.insert(columnsOf(of, secret, slot, now))}`)
      }),

      move: Effect.fnUntraced(function*(of, changes, now) {
        const retired = changes.filter(({ slot }) => slot === "retired").map(({ id }) => id)
        const forgotten = after(now, retiredKept)
        // Secrets that make place go first.
        if (retired.length > 0) {
          yield* post(sql`
            update account_secret set slot = 'retired', erase_at = ${forgotten}
            where ${ofAccount(of)} and id = any(${retired}::uuid[])`)
        }
        for (const { id, slot } of changes.filter(({ slot }) => slot !== "retired")) {
          yield* post(sql`
            update account_secret set slot = 'retired', erase_at = ${forgotten}
            where ${ofAccount(of)} and slot = ${slot} and id <> ${id}
              and kind = (select kind from account_secret where ${ofAccount(of)} and id = ${id})`)
          yield* post(
            sql`update account_secret set slot = ${slot}, erase_at = null where ${ofAccount(of)} and id = ${id}`
          )
        }
      }),

      suspend: (of, kind) =>
        post(sql`
          update account_secret set slot = 'retired', erase_at = null
          where ${ofAccount(of)} and kind = ${kind} and slot = 'held'`),

      list: (organizationId, limit) =>
        sql<HeldPassword>`
          select account_id, first_name, last_name, username, phone_number, offboarded_at, locked_at, made_at,
            revealed_at, erase_at
          from account_secret join account
            on account.organization_id = account_secret.organization_id and account.id = account_id
          where account_secret.organization_id = ${organizationId} and kind = 'two_fa' and slot = 'held'
          order by offboarded_at is null, name_key, account_id limit ${limit}`.pipe(Effect.orDie),

      shown: (of, id, now) =>
        sql`
          update account_secret set revealed_at = coalesce(revealed_at, ${now}),
            erase_at = case when erase_at is not null
              then least(erase_at, ${after(now, retiredKept)}) end
          where ${ofAccount(of)} and id = ${id} and kind = 'two_fa' and slot = 'held' returning id`.pipe(
          Effect.orDie,
          Sql.exists
        ),

      isUnseen: (of, kind) =>
        sql`
          select 1 from account_secret
          where ${ofAccount(of)} and kind = ${kind} and slot = 'held' and revealed_at is null
            and erase_at is not null`.pipe(Effect.orDie, Sql.exists),

      leave: Effect.fnUntraced(function*(of, { passkeys, passwords }) {
        yield* post(sql`
          update account_secret set slot = 'held' where ${ofAccount(of)} and id in (
            select distinct on (kind) id from account_secret
            where ${ofAccount(of)} and (slot <> 'retired' or erase_at is null)
            order by kind, array_position(array['held', 'next', 'retired'], slot), made_at desc, id)`)
        yield* post(sql`
          update account_secret set revealed_at = null,
            erase_at = case when kind = 'two_fa' then ${passwords}::timestamptz else ${passkeys}::timestamptz end
          where ${ofAccount(of)} and erase_at is null`)
      }),

      keepUntil: (of, kind, at) =>
        post(sql`
          update account_secret set erase_at = ${at}
          where ${ofAccount(of)} and kind = ${kind} and erase_at is null`),

      eraseAll: (of, kind) => post(sql`delete from account_secret where ${ofAccount(of)} and kind = ${kind}`),

      erase: (of, ids) =>
        ids.length === 0 ?
          Effect.void :
          post(sql`delete from account_secret where ${ofAccount(of)} and id = any(${ids}::uuid[])`)
    })
  })
)
