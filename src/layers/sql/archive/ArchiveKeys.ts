import { Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { toBase64 } from "../../../domain/archive/Bytes.ts"
import { ArchiveKeyId, archiveSuite, type WrapKind } from "../../../domain/archive/Epoch.ts"
import { KeyDerivation } from "../../../domain/archive/KeyDerivation.ts"
import type { WrapRow } from "../../../domain/archive/KeyWrap.ts"
import type { OrganizationId } from "../../../domain/people/Access.ts"
import { type ArchiveKey, ArchiveKeys, PublicKeyUnproven, type StoredWrap } from "../../../ports/archive/ArchiveKeys.ts"
import { Vault } from "../../crypto/Vault.ts"
import * as Sql from "../../postgres/Rows.ts"
import * as Tenant from "../../postgres/Tenant.ts"

interface KeyRow {
  readonly organization_id: OrganizationId
  readonly key_id: string
  readonly suite: number
  readonly public_key: Uint8Array
  readonly made_at: Date
  readonly password_set_at: Date
  readonly wrap_id: string
}

interface StoredRow {
  readonly kind: WrapKind
  readonly kdf: unknown
  readonly nonce: Uint8Array
  readonly sealed: Uint8Array
  readonly proof: Uint8Array
  readonly made_at: Date
}

/** Key pairs before the current one of which passwords are tried: each that is tried takes a derivation. */
const replacedTried = 3

const keyOf = (row: KeyRow): ArchiveKey => ({
  organizationId: row.organization_id,
  keyId: ArchiveKeyId.make(row.key_id),
  suite: row.suite,
  publicKey: Uint8Array.from(row.public_key),
  madeAt: row.made_at,
  passwordSetAt: row.password_set_at,
  wrapId: row.wrap_id
})

/** A public key as it is named in its proof: an empty secret that the vault has sealed for it. */
export interface ProvenKey {
  readonly organizationId: OrganizationId
  readonly keyId: string
  readonly publicKey: Uint8Array
}

export const sealedFor = ({ keyId, organizationId, publicKey }: ProvenKey): ReadonlyArray<string> => [
  "archive_key",
  organizationId,
  keyId,
  toBase64(publicKey)
]

/** Parameters of a derivation that are beyond its limits are a defect: nothing is derived by them. */
const derivation = Schema.decodeUnknownEffect(KeyDerivation)

const wrapOf = (row: StoredRow): Effect.Effect<StoredWrap> =>
  Effect.map(Effect.orDie(derivation(row.kdf)), (kdf) => ({
    kind: row.kind,
    kdf,
    nonce: Uint8Array.from(row.nonce),
    sealed: Uint8Array.from(row.sealed),
    proof: Uint8Array.from(row.proof),
    madeAt: row.made_at
  }))

export const layer = Layer.effect(
  ArchiveKeys,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const vault = yield* Vault
    const post = Tenant.post(sql)

    const prove = (key: ProvenKey): string => vault.seal(Redacted.make(""), sealedFor(key))

    const isProven = (key: ProvenKey, proof: string) =>
      vault.open(proof, sealedFor(key)).pipe(Effect.as(true), Effect.catchDefect(() => Effect.succeed(false)))

    const keyColumns = sql.literal(
      `archive_key.organization_id, key_id, suite, public_key, archive_key.made_at,
      archive_wrap.made_at as password_set_at, encode(nonce, 'hex') as wrap_id`
    )
    const withPassword = (organizationId: OrganizationId) =>
      sql`archive_key join archive_wrap using (organization_id, key_id)
        where archive_key.organization_id = ${organizationId} and kind = 'password'`

    const current = (organizationId: OrganizationId) =>
      Effect.map(
        Effect.orDie(
          sql<KeyRow>`select ${keyColumns} from ${withPassword(organizationId)} and retired_at is null`
        ),
        ([row]) => row === undefined ? null : keyOf(row)
      )

    /** Forgets what connections keep of the key: they were given the password before. Connections are locked in order. */
    const forgetStored = (organizationId: OrganizationId) =>
      Effect.all([
        post(sql`
          update ai_connection set has_stored_password = false
          where organization_id = ${organizationId} and id in (
            select id from ai_connection where organization_id = ${organizationId} and has_stored_password
            order by id for update)`),
        post(sql`
          update oauth_code set unlock = null where organization_id = ${organizationId} and unlock is not null`),
        post(sql`
          update oauth_token set unlock = null where organization_id = ${organizationId} and unlock is not null`)
      ], { discard: true })

    const keep = (organizationId: OrganizationId, keyId: ArchiveKeyId, wrap: WrapRow, now: Date) =>
      post(sql`
        insert into archive_wrap (organization_id, key_id, kind, kdf, nonce, sealed, proof, made_at)
        values (${organizationId}, ${keyId}, ${wrap.kind}, ${JSON.stringify(wrap.kdf)}::jsonb, ${wrap.nonce},
          ${wrap.sealed}, ${wrap.proof}, ${now})
        on conflict (organization_id, key_id, kind) do update set kdf = excluded.kdf, nonce = excluded.nonce,
          sealed = excluded.sealed, proof = excluded.proof, made_at = excluded.made_at`)

    return ArchiveKeys.of({
      current,

      sealing: Effect.fnUntraced(function*(organizationId) {
        const [row] = yield* Effect.orDie(sql<Pick<KeyRow, "key_id" | "public_key"> & { public_key_proof: string }>`
          select key_id, public_key, public_key_proof from archive_key
          where organization_id = ${organizationId} and retired_at is null`)
        if (row === undefined) return null
        const key = { keyId: ArchiveKeyId.make(row.key_id), publicKey: Uint8Array.from(row.public_key) }
        const proven = yield* isProven({ organizationId, ...key }, row.public_key_proof)
        return proven ? key : yield* new PublicKeyUnproven()
      }),

      wrapped: (organizationId) =>
        Effect.flatMap(
          Effect.orDie(sql<KeyRow & Omit<StoredRow, "made_at">>`
            select ${keyColumns}, kind, kdf, nonce, sealed, proof from ${withPassword(organizationId)}
            order by retired_at desc nulls first limit ${sql.literal(String(1 + replacedTried))}`),
          Effect.forEach((row) =>
            Effect.map(wrapOf({ ...row, made_at: row.password_set_at }), (wrap) => ({ key: keyOf(row), wrap }))
          )
        ),

      wrap: ({ keyId, organizationId }, kind) =>
        Effect.flatMap(
          Effect.orDie(sql<StoredRow>`
            select kind, kdf, nonce, sealed, proof, made_at from archive_wrap
            where organization_id = ${organizationId} and key_id = ${keyId} and kind = ${kind}`),
          ([row]) => row === undefined ? Effect.succeed(null) : wrapOf(row)
        ),

      isRetired: ({ keyId, organizationId }) =>
        sql`
          select 1 from archive_key
          where organization_id = ${organizationId} and key_id = ${keyId} and retired_at is not null`.pipe(
          Effect.orDie,
          Sql.exists
        ),

      lock: (organizationId) =>
        Effect.andThen(
          post(sql`select 1 from organization where id = ${organizationId} for no key update`),
          current(organizationId)
        ),

      add: Effect.fnUntraced(function*({ keyId, madeBy, organizationId, publicKey, wraps }, now) {
        yield* post(sql`
          update archive_key set retired_at = ${now}, lost_at = ${now}, public_key_proof = null
          where organization_id = ${organizationId} and retired_at is null`)
        yield* post(sql`
          insert into archive_key (organization_id, key_id, suite, public_key, public_key_proof, made_by, made_at)
          values (${organizationId}, ${keyId}, ${archiveSuite}, ${publicKey},
            ${prove({ organizationId, keyId, publicKey })}, ${madeBy}, ${now})`)
        for (const wrap of wraps) yield* keep(organizationId, keyId, wrap, now)
        yield* forgetStored(organizationId)
        yield* post(sql`update organization set archive_key_set = true where id = ${organizationId}`)
      }),

      dropAll: (organizationId, now) =>
        Effect.all([
          forgetStored(organizationId),
          post(sql`delete from archive_wrap where organization_id = ${organizationId}`),
          post(sql`
            update archive_key set retired_at = ${now}, public_key_proof = null
            where organization_id = ${organizationId} and retired_at is null`),
          post(sql`update organization set archive_key_set = false where id = ${organizationId}`)
        ], { discard: true }),

      rewrap: Effect.fnUntraced(function*(key, wrap, now) {
        const { keyId, organizationId } = key
        yield* keep(organizationId, keyId, wrap, now)
        if (wrap.kind === "recovery") return
        yield* post(sql`
          update archive_key set public_key_proof = ${prove(key)}
          where organization_id = ${organizationId} and key_id = ${keyId} and retired_at is null`)
        yield* forgetStored(organizationId)
      })
    })
  })
)
