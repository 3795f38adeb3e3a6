/** Vocabularies of blocks, sealed under a reader's epoch. A vocabulary is a cache: what does not open is scanned. */
import { Effect, Redacted } from "effect"
import { boundTo, concat, pad, readUtf8, unpad, utf8, viewOf } from "../domain/archive/Bytes.ts"
import type { VocabularyKey } from "../domain/archive/Epoch.ts"
import { foldVersion } from "../domain/archive/Fold.ts"
import { inflatedLimit } from "../domain/archive/PageRules.ts"
import { ArchiveUnreadable } from "../domain/archive/Unreadable.ts"
import type { Vocabulary } from "../domain/archive/Vocabulary.ts"
import { ArchiveCrypto, type NotOpened } from "../ports/archive/ArchiveCrypto.ts"

const nonceSize = 12
const paddedTo = 1024
/** The number of messages and the length of the deflated words stand before them. */
const sizesSize = 8

const boundVocabulary = ({ ref }: VocabularyKey, blockId: bigint): Uint8Array =>
  boundTo(
    "vocabulary/1",
    ref.organizationId,
    ref.accountId,
    String(blockId),
    String(ref.epochId),
    String(foldVersion)
  )

export const sealVocabulary: (
  key: VocabularyKey,
  blockId: bigint,
  vocabulary: Vocabulary
) => Effect.Effect<Uint8Array, never, ArchiveCrypto> = Effect.fnUntraced(function*(key, blockId, vocabulary) {
  const crypto = yield* ArchiveCrypto
  const words = yield* crypto.deflate(utf8(vocabulary.words))
  const sizes = new Uint8Array(sizesSize)
  viewOf(sizes).setUint32(0, vocabulary.messages)
  viewOf(sizes).setUint32(4, words.length)
  const plain = pad(concat(sizes, words, yield* crypto.deflate(vocabulary.postings)), paddedTo)
  const nonce = yield* crypto.random(nonceSize)
  const bound = boundVocabulary(key, blockId)
  return concat(nonce, yield* crypto.aeadSeal(Redacted.value(key.vocabularies), nonce, plain, bound))
})

/** An opened vocabulary; its postings are inflated only where its words are found. */
export interface OpenVocabulary {
  readonly messages: number
  readonly words: string
  readonly postings: Effect.Effect<Uint8Array, ArchiveUnreadable>
}

const unreadable = () => new ArchiveUnreadable({ part: "vocabulary" })

export const openVocabulary: (
  key: VocabularyKey,
  blockId: bigint,
  sealed: Uint8Array
) => Effect.Effect<OpenVocabulary, ArchiveUnreadable, ArchiveCrypto> = Effect.fnUntraced(
  function*(key, blockId, sealed) {
    const crypto = yield* ArchiveCrypto
    const readable = <A>(opening: Effect.Effect<A, NotOpened>) => Effect.mapError(opening, unreadable)
    const nonce = sealed.subarray(0, nonceSize)
    const bound = boundVocabulary(key, blockId)
    const opened = crypto.aeadOpen(Redacted.value(key.vocabularies), nonce, sealed.subarray(nonceSize), bound)
    const content = unpad(yield* readable(opened))
    if (content === null || content.length < sizesSize) return yield* unreadable()
    const end = sizesSize + viewOf(content).getUint32(4)
    if (end > content.length) return yield* unreadable()
    const words = readUtf8(yield* readable(crypto.inflate(content.subarray(sizesSize, end), inflatedLimit)))
    if (words === null) return yield* unreadable()
    const messages = viewOf(content).getUint32(0)
    return { messages, words, postings: readable(crypto.inflate(content.subarray(end), inflatedLimit)) }
  }
)
