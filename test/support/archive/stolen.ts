/** A thief of the database and of every key of the service's configuration, and what these open of an archive. */
import { Effect, Redacted, Stream } from "effect"
import * as crypto from "node:crypto"
import { chunkOpener, openFileKey } from "../../../src/archive/BlobSealing.ts"
import { openEpoch } from "../../../src/archive/EpochKeys.ts"
import { openFrames } from "../../../src/archive/Frames.ts"
import { unwrapSeed } from "../../../src/archive/KeyWraps.ts"
import { openStoredSeed } from "../../../src/archive/StoredUnlocks.ts"
import { openVocabulary } from "../../../src/archive/Vocabularies.ts"
import { AccountId } from "../../../src/domain/accounts/Account.ts"
import { boundTo, hex } from "../../../src/domain/archive/Bytes.ts"
import { ArchiveKeyId, type FrameKind } from "../../../src/domain/archive/Epoch.ts"
import type { OrganizationId } from "../../../src/domain/people/Access.ts"
import { ArchiveCrypto } from "../../../src/ports/archive/ArchiveCrypto.ts"
import { ArchiveKeys } from "../../../src/ports/archive/ArchiveKeys.ts"
import { BlobStore } from "../../../src/ports/archive/BlobStore.ts"
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

interface SealedPage {
  readonly account_id: string
  readonly chat: string
  readonly day: string
  readonly kind: FrameKind
  readonly sealed: Uint8Array
}

interface SealedBlock {
  readonly account_id: string
  readonly epoch: string
  readonly block: string
  readonly sealed: Uint8Array
}

interface SealedFile {
  readonly account_id: string
  readonly epoch: string
  readonly blob_id: string
  readonly key: Uint8Array
  readonly size: number
}

/** The names under which the code derives keys of others. */
const labels = [
  "vault/1",
  "cluster/1",
  ...["frame/1", "vocabulary/1", "file-key/1", "mark/1"].map((name) => Buffer.from(boundTo(name)))
]

/** A key, and those that the code would derive of it. */
const withDerived = (key: Uint8Array): ReadonlyArray<Uint8Array> => [
  key,
  ...labels.map((label) => new Uint8Array(crypto.hkdfSync("sha256", key, "", label, size)))
]

/** What of the archived content opens by any of the keys, or by keys of them. Each file key that opens is tried on the contents. */
const contentOpened = Effect.fnUntraced(
  function*(organizationId: OrganizationId, stolen: ReadonlyArray<Uint8Array>) {
    const store = yield* BlobStore
    const rows = <Row extends object>(table: "archive_page" | "archive_block" | "archive_blob", columns: string) =>
      World.query<Row>(organizationId, (sql) => sql`select ${sql.literal(columns)} from ${sql(table)}`)
    const pages = yield* rows<SealedPage>("archive_page", "account_id, chat_id::text as chat, day::text, kind, sealed")
    const blocks = yield* rows<SealedBlock>(
      "archive_block",
      "account_id, epoch_id::text as epoch, block_id::text as block, sealed"
    )
    const files = yield* rows<SealedFile>(
      "archive_blob",
      "account_id, epoch_id::text as epoch, blob_id, key, plain_bytes::integer as size"
    )
    const objects = yield* Effect.forEach(files, (file) => {
      const range = { start: 0, end: file.size + 16 }
      const read = Stream.mkUint8Array(store.get({ blobId: file.blob_id, version: null }, range))
      return Effect.map(Effect.orDie(read), (object) => ({ ...file, object }))
    })
    const opened = new Set<string>()
    const texts: Array<string> = []
    const keyId = ArchiveKeyId.make(crypto.randomUUID())
    const accounts = new Map(
      [...pages, ...blocks, ...files].map(({ account_id }) => [account_id, AccountId.make(account_id)])
    )
    const accountOf = (account: string) => accounts.get(account) ?? AccountId.make(account)
    const tried = stolen.flatMap(withDerived)
    for (const bytes of tried) {
      const key = Redacted.make(bytes)
      const epochOf = (account: string, epoch: bigint) => ({
        ref: { organizationId, accountId: accountOf(account), epochId: epoch, keyId },
        key,
        frames: key,
        vocabularies: key,
        files: key,
        marks: key
      })
      for (const { account_id, chat, day, kind, sealed } of pages) {
        const keys = (epoch: bigint) => Effect.succeed(epochOf(account_id, epoch))
        const records = yield* Effect.option(openFrames(keys, { chatId: BigInt(chat), day, kind }, sealed))
        if (records._tag === "None") continue
        opened.add("page")
        texts.push(JSON.stringify(records.value, (_, value: unknown) => typeof value === "bigint" ? `${value}` : value))
      }
      for (const { account_id, block, epoch, sealed } of blocks) {
        const open = openVocabulary(epochOf(account_id, BigInt(epoch)), BigInt(block), sealed)
        if (yield* Effect.isSuccess(open)) opened.add("vocabulary")
      }
      for (const { account_id, blob_id, epoch, key: sealedKey, object, size: bytesOfFile } of objects) {
        const fileKey = yield* Effect.option(openFileKey(epochOf(account_id, BigInt(epoch)), blob_id, sealedKey))
        if (fileKey._tag === "Some") opened.add("file key")
        for (const candidate of fileKey._tag === "Some" ? [key, fileKey.value] : [key]) {
          const ref = { organizationId, accountId: accountOf(account_id), blobId: blob_id }
          const content = yield* Effect.option(chunkOpener(candidate, ref, bytesOfFile)(0, object))
          if (content._tag === "None") continue
          opened.add("file")
          texts.push(Buffer.from(content.value).toString("utf8"))
        }
      }
    }
    return { opened: [...opened].toSorted(), texts, sealed: pages.length + blocks.length + files.length }
  }
)

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
  const epochKeys: Array<Uint8Array> = []
  const attempt = <A, E, R>(part: string, opening: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Effect.isSuccess(opening), (opens) =>
      Effect.sync(() => {
        if (opens) opened.add(part)
      }))
  for (const bytes of keys.flatMap(withDerived)) {
    for (const { account_id, epoch, key_id, sealed_key } of epochs) {
      const keyId = ArchiveKeyId.make(key_id)
      const ref = { organizationId, accountId: AccountId.make(account_id), epochId: BigInt(epoch), keyId }
      const epochKey = yield* Effect.option(openEpoch(ref, sealed_key, { keyId, bytes: Redacted.make(bytes) }))
      if (epochKey._tag === "None") continue
      opened.add("epoch")
      epochKeys.push(Redacted.value(epochKey.value.key))
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
  const content = yield* contentOpened(organizationId, [...keys, ...epochKeys])
  return {
    opened: [...opened, ...content.opened],
    texts: content.texts,
    sealed: content.sealed,
    tried: keys.length,
    epochs: epochs.length,
    unlocks: unlocks.length,
    wraps: wraps.length
  }
})
