/** Accounts whose archive tests write and open. */
import { Clock, Effect, Redacted, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { openEpoch } from "../../../src/archive/EpochKeys.ts"
import { makeKeyPair, wrapSeed } from "../../../src/archive/KeyWraps.ts"
import type { ArchiveKeyPair } from "../../../src/archive/KeyWraps.ts"
import { openAccount } from "../../../src/archive/Reader.ts"
import type { AccountId } from "../../../src/domain/accounts/Account.ts"
import type { FileRecord, MessageDetails } from "../../../src/domain/archive/Records.ts"
import type { OrganizationId } from "../../../src/domain/people/Access.ts"
import { ArchiveCrypto } from "../../../src/ports/archive/ArchiveCrypto.ts"
import { ArchiveKeys } from "../../../src/ports/archive/ArchiveKeys.ts"
import { ArchiveWriter, type SeenMessage } from "../../../src/ports/archive/ArchiveWriter.ts"
import type { ArchivedAccount } from "../../../src/ports/archive/Epochs.ts"
import { Db } from "../../../src/ports/Db.ts"
import * as World from "../world.ts"
import { archivePassword } from "./archivePassword.ts"

/** The time at which tests of the archive begin. */
export const beginning = Date.UTC(2026, 2, 2, 12)

/** An account with the organization's key pair, both halves of it. */
export interface Archive {
  readonly account: ArchivedAccount
  readonly key: ArchiveKeyPair
}

export const makeArchive = Effect.fnUntraced(function*(organizationId?: OrganizationId, key?: ArchiveKeyPair) {
  yield* TestClock.setTime(beginning)
  const id = organizationId ?? (yield* World.makeOrganization()).id
  const accountId = yield* World.makeAccount(id)
  return { account: { organizationId: id, accountId }, key: key ?? (yield* makeKeyPair) } satisfies Archive
})

/** The writer of the account, until the scope closes. */
export const write = ({ account, key }: Archive) =>
  Effect.flatMap(ArchiveWriter, (writer) => writer.own(account, key, crypto.randomUUID()))

/** Commits what a writer does. */
export const commit = <A, E, R>({ account }: Pick<Archive, "account">, effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Db, (db) => db.transaction(account.organizationId, effect))

/** The account as a request has it that gave the password. */
export const open = ({ account, key }: Archive) =>
  Effect.map(ArchiveCrypto, (primitives) =>
    openAccount(account, {
      epochKey: (ref, sealedKey) =>
        Effect.provideService(openEpoch(ref, sealedKey, key.seed), ArchiveCrypto, primitives)
    }))

export const file = (name: string): FileRecord => ({ id: crypto.randomUUID(), name, mime_type: "image/png", bytes: 7 })

/** A message of so many seconds before the beginning. */
export const seen = (
  id: number | bigint,
  secondsAgo: number,
  text: string,
  details: MessageDetails = {}
): SeenMessage => ({
  id: BigInt(id),
  at: beginning / 1000 - secondsAgo,
  from: { id: "77", name: "Grace Hopper", username: "grace" },
  kind: details.files === undefined ? "text" : "photo",
  text,
  details
})

const member = (id: string, name: string) => ({
  id,
  name,
  username: null,
  phone: null,
  role: "member" as const,
  joined_at: null,
  last_seen_in_chat_at: null
})

/** A private chat, and what a list asks for by default. */
export const chatId = 4242n
export const chat = {
  chatId,
  type: "private" as const,
  leftAt: null,
  info: { title: "Grace Hopper", username: "grace", members_count: null }
}
export const newest = {
  chatId,
  direction: "older" as const,
  bound: null,
  since: null,
  until: null,
  kind: null,
  deleted: null,
  limit: 50
}

/** Gives the organization the key pair, under the tests' password. */
export const setKey = Effect.fnUntraced(function*(organizationId: OrganizationId, key: ArchiveKeyPair) {
  const ref = { organizationId, keyId: key.keyId, publicKey: key.publicKey, kind: "password" as const }
  const wrap = yield* wrapSeed(ref, Redacted.make(archivePassword), key.seed)
  const keys = yield* ArchiveKeys
  const now = new Date(yield* Clock.currentTimeMillis)
  yield* Effect.flatMap(
    Db,
    (db) => db.transaction(organizationId, keys.add({ ...ref, wraps: [wrap], madeBy: null }, now))
  )
})

/** An archive under the tests' password with a chat of three messages; each text carries what `text` adds to it. */
export const populate = Effect.fnUntraced(function*(
  organizationId: OrganizationId,
  accountId: AccountId,
  text: (what: string) => string
) {
  const { account, key } = { account: { organizationId, accountId }, key: yield* makeKeyPair }
  yield* setKey(organizationId, key)
  const files = [file(text("one.txt")), file(text("two.txt"))]
  const [one, two] = files.map((each) => ({ files: [each] }))
  const messages = [seen(1, 60, text("First"), one), seen(2, 50, text("Second"), two), seen(3, 40, text("Third"))]
  yield* Effect.scoped(Effect.gen(function*() {
    const writer = yield* write({ account, key })
    const info = { ...chat.info, title: text("Chat") }
    yield* commit({ account }, writer.see({ ...chat, info }))
    yield* commit({ account }, writer.see({ ...chat, chatId: chatId + 1n, info }))
    yield* commit({ account }, writer.setMembers(chatId, [member("77", text("Grace")), member("78", text("Henry"))]))
    yield* commit({ account }, writer.append(chatId, messages, "sweep"))
    for (const { bytes, id } of files) {
      yield* writer.storeFile(id, { messengerFile: id, bytes, content: Stream.make(new Uint8Array(bytes)) })
    }
  }))
  return files.map(({ id }) => id)
})
