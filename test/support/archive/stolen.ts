/** A thief of the database and of every key of the service's configuration, and what these open of an archive. */
import { Effect, Redacted } from "effect"
import * as crypto from "node:crypto"
import { openEpoch } from "../../../src/archive/EpochKeys.ts"
import { unwrapSeed } from "../../../src/archive/KeyWraps.ts"
import { openStoredSeed } from "../../../src/archive/StoredUnlocks.ts"
import { AccountId } from "../../../src/domain/accounts/Account.ts"
import { boundTo, hex } from "../../../src/domain/archive/Bytes.ts"
import { ArchiveKeyId } from "../../../src/domain/archive/Epoch.ts"
import type { OrganizationId } from "../../../src/domain/people/Access.ts"
import { ArchiveCrypto } from "../../../src/ports/archive/ArchiveCrypto.ts"
import { ArchiveKeys } from "../../../src/ports/archive/ArchiveKeys.ts"
import { Db } from "../../../src/ports/Db.ts"
import * as Leaks from "../leaks.ts"
import * as World from "../world.ts"
import { keyOf } from "./deletions.ts"

const serverKeys = [World.peppers, World.csrfKeys, World.checkpointKeys]
  .map((text) => new Uint8Array(Buffer.from(text, "base64")))

const size = 32

/** Everything of 32 bytes or more that stands in the text in hexadecimal or base64, from its beginning and to its end. */
const keysIn = (text: string): ReadonlyArray<Uint8Array> =>
  [
    ...[...text.matchAll(/[0-9a-f]{64,}/g)].map(([digits]) => Buffer.from(digits, "hex")),
    ...[...text.matchAll(/[\w+/-]{43,}/g)].map(([digits]) => Buffer.from(digits, "base64url"))
  ].flatMap((bytes) => [bytes.subarray(0, size), bytes.subarray(-size)]).filter(({ length }) => length === size)
    .map((bytes) => new Uint8Array(bytes))

const sealingKeys = serverKeys.map((key) => new Uint8Array(crypto.hkdfSync("sha256", key, "", "vault/1", size)))

/** What the service's own keys seal in the text. It opens without its context, which is proved by the tag alone. */
const openedIn = (text: string): ReadonlyArray<Buffer> =>
  [...text.matchAll(/[\w-]+\.([\w-]{38,})/g)].map(([, body = ""]) => Buffer.from(body, "base64url")).flatMap((bytes) =>
    sealingKeys.map((key) =>
      crypto.createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12)).update(bytes.subarray(12, -16))
    )
  )

/** What the bytes are as a key, and what stands in them as text. */
const keysOf = (bytes: Buffer): ReadonlyArray<Uint8Array> => [
  ...(bytes.length < size ? [] : [new Uint8Array(bytes.subarray(0, size)), new Uint8Array(bytes.subarray(-size))]),
  ...keysIn(bytes.toString("latin1"))
]

/** The keys of the service, those that it derives of them to seal, and whatever may be a key in the database. */
const stolenKeys = (tables: ReadonlyMap<string, string>): ReadonlyArray<Uint8Array> => {
  const texts = [...tables.values()]
  const all = [...serverKeys, ...sealingKeys, ...texts.flatMap(keysIn), ...texts.flatMap(openedIn).flatMap(keysOf)]
  return [...new Map(all.map((key) => [hex(key), key])).values()]
}

interface SealedEpoch {
  readonly epoch: string
  readonly key_id: string
  readonly account_id: string
  readonly sealed_key: Uint8Array
}

interface Unlock {
  readonly connection_id: string
  readonly unlock: Uint8Array
}

/** What opens of the organization's archive by any of these keys: names of its parts. */
export const openedByThief = Effect.fnUntraced(function*(organizationId: OrganizationId) {
  const primitives = yield* ArchiveCrypto
  const keys = stolenKeys(yield* Leaks.dump(organizationId))
  const key = yield* keyOf(organizationId)
  const epochs = yield* World.query<SealedEpoch>(
    organizationId,
    (sql) =>
      sql`select epoch_id::text as epoch, key_id, account_id, sealed_key from archive_epoch where sealed_key is not null`
  )
  const unlocks = yield* World.query<Unlock>(
    organizationId,
    (sql) => sql`select connection_id, unlock from oauth_token where unlock is not null`
  )
  const wraps = yield* (yield* Db).read(
    organizationId,
    Effect.flatMap(ArchiveKeys, (stored) => Effect.all([stored.wrap(key, "password"), stored.wrap(key, "recovery")]))
  )
  const publicKey = hex(yield* primitives.sha256(key.publicKey))
  const opened = new Set<string>()
  const attempt = <A, E, R>(part: string, opening: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Effect.isSuccess(opening), (opens) =>
      Effect.sync(() => {
        if (opens) opened.add(part)
      }))
  for (const bytes of keys) {
    for (const { account_id, epoch, key_id, sealed_key } of epochs) {
      const keyId = ArchiveKeyId.make(key_id)
      const ref = { organizationId, accountId: AccountId.make(account_id), epochId: BigInt(epoch), keyId }
      yield* attempt("epoch", openEpoch(ref, sealed_key, { keyId, bytes: Redacted.make(bytes) }))
    }
    for (const wrap of wraps.filter((each) => each !== null)) {
      const bound = boundTo("archive-wrap/1", organizationId, key.keyId, wrap.kind, publicKey)
      yield* attempt("wrap", primitives.aeadOpen(bytes, wrap.nonce, wrap.sealed, bound))
    }
    for (const { connection_id, unlock } of unlocks) {
      for (const secret of [hex(bytes), Buffer.from(bytes).toString("base64url")]) {
        const ref = { organizationId, connectionId: connection_id, keyId: key.keyId, wrapId: key.wrapId }
        yield* attempt("stored unlock", openStoredSeed(ref, Redacted.make(secret), unlock))
      }
    }
  }
  for (const text of [World.peppers, World.csrfKeys, World.checkpointKeys]) {
    for (const wrap of wraps.filter((each) => each !== null)) {
      yield* attempt(
        "wrap by a key as its password",
        unwrapSeed({ ...key, kind: wrap.kind }, wrap, Redacted.make(text))
      )
    }
  }
  return {
    opened: [...opened],
    tried: keys.length,
    epochs: epochs.length,
    unlocks: unlocks.length,
    wraps: wraps.length
  }
})
