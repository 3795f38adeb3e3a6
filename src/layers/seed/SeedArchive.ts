/** The sealed archive of a seed file's organization: its key, and the chats of its accounts. */
import { Effect, Layer, Redacted, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { eraseSeed, makeKeyPair, wrapSeed } from "../../archive/KeyWraps.ts"
import * as Writer from "../../archive/Writer.ts"
import type { AccountId } from "../../domain/accounts/Account.ts"
import { piecesOf } from "../../domain/archive/PageRules.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { ArchiveChats } from "../../ports/archive/ArchiveChats.ts"
import { ArchiveKeys } from "../../ports/archive/ArchiveKeys.ts"
import { type AccountArchive, ArchiveWriter, type SealingKey } from "../../ports/archive/ArchiveWriter.ts"
import { BlobStore } from "../../ports/archive/BlobStore.ts"
import { Db } from "../../ports/Db.ts"
import * as NodeCrypto from "../archive/NodeCrypto.ts"
import * as NodeDigest from "../archive/NodeDigest.ts"
import * as Blobs from "../sql/archive/ArchiveBlobs.ts"
import * as Chats from "../sql/archive/ArchiveChats.ts"
import * as Keys from "../sql/archive/ArchiveKeys.ts"
import * as Records from "../sql/archive/ArchiveRecords.ts"
import * as Epochs from "../sql/archive/Epochs.ts"
import * as Blocks from "../sql/archive/SearchBlocks.ts"
import type { SeedAccount } from "./Seed.ts"
import {
  deletedIds,
  fileCount,
  filesOf,
  generatedChats,
  type SeedChat,
  seenChat,
  seenMembers,
  seenMessages,
  selfOf,
  withFiles
} from "./SeedChats.ts"

/** Everything of a file is one transaction, which is open already and inside the organization. */
const surrounding = Layer.succeed(
  Db,
  Db.of({ transaction: (_, effect) => effect, read: (_, effect) => effect, check: Effect.void })
)

const ports = Layer.mergeAll(
  surrounding,
  NodeCrypto.layer,
  NodeDigest.layer,
  Blobs.layer,
  Blocks.layer,
  Chats.layer,
  Keys.layer,
  Records.layer,
  Epochs.layer
)

/** The services that archives are seeded with, to be made anew for each file: their transaction is the file's. */
export const layer = Layer.provideMerge(Writer.layer, ports)

/** Makes the organization's archive key, and its wrap under the password. */
export const makeKey = Effect.fnUntraced(function*(organizationId: OrganizationId, password: string, now: Date) {
  const keys = yield* ArchiveKeys
  const pair = yield* makeKeyPair
  const ref = { organizationId, keyId: pair.keyId, publicKey: pair.publicKey, kind: "password" as const }
  // The only failure is that of a recovery code.
  const wrap = yield* Effect.orDie(wrapSeed(ref, Redacted.make(password), pair.seed))
  yield* eraseSeed(pair.seed)
  yield* keys.add({ ...ref, wraps: [wrap], madeBy: null }, now)
  return { keyId: pair.keyId, publicKey: pair.publicKey } satisfies SealingKey
})

/** Messages of a chat that are sealed at a time. */
const batch = 1000

const writeChat = Effect.fnUntraced(function*(
  archive: AccountArchive,
  account: { readonly organizationId: OrganizationId; readonly accountId: AccountId },
  chat: SeedChat,
  self: ReturnType<typeof seenMessages>[number]["from"],
  now: Date
) {
  const chats = yield* ArchiveChats
  const seen = seenChat(chat)
  yield* archive.see(seen)
  yield* archive.setMembers(seen.chatId, seenMembers(chat))
  const random = yield* SecureRandom.SecureRandom
  const files = filesOf(chat, yield* Effect.replicateEffect(random.uuidV7(), fileCount(chat)))
  for (const piece of piecesOf(withFiles(seenMessages(chat, self, now), files), batch)) {
    yield* archive.append(seen.chatId, piece, "sweep")
  }
  const stored = (yield* BlobStore).isConfigured ? files : []
  for (const { content, record } of stored) {
    yield* archive.storeFile(record.id, {
      messengerFile: record.id,
      bytes: content.length,
      content: Stream.make(content)
    })
  }
  yield* archive.mark(seen.chatId, deletedIds(chat), "deleted", "sweep")
  yield* chats.setComplete(account, seen.chatId, chat.complete ?? false)
})

/** Writes the account's chats, sealed to the key. */
export const writeChats = Effect.fnUntraced(function*(
  organizationId: OrganizationId,
  accountId: AccountId,
  seed: SeedAccount,
  key: SealingKey,
  now: Date
) {
  const chats = [...seed.archive?.chats ?? [], ...generatedChats(seed.archive?.generated_messages ?? 0)]
  if (chats.length === 0) return
  const random = yield* SecureRandom.SecureRandom
  const writer = yield* ArchiveWriter
  const account = { organizationId, accountId }
  const self = selfOf(seed)
  // The account was made before, and nobody else can have it.
  yield* Effect.orDie(Effect.scoped(Effect.gen(function*() {
    const archive = yield* writer.own(account, key, yield* random.uuidV7())
    for (const chat of chats) yield* writeChat(archive, account, chat, self, now)
  })))
})
