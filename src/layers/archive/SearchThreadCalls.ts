/** The asks of a thread that searches, and its answers. Sealed bytes and keys are copied, and handed over. */
import { Redacted } from "effect"
import type { EpochRef, FrameKey } from "../../domain/archive/Epoch.ts"
import type { SearchWord } from "../../domain/archive/SearchWords.ts"
import type {
  BlockMatches,
  MatchCriteria,
  OpenableBlock,
  OpenablePage,
  PageMatches
} from "../../ports/archive/SearchMatcher.ts"
import type { SearchPage } from "../../ports/archive/SearchStore.ts"

/** A key of an epoch as its bytes, which the thread zeroes. */
interface ThreadKey {
  readonly ref: EpochRef
  readonly key: Uint8Array
}

interface ThreadPage {
  readonly page: SearchPage
  readonly sealed: Uint8Array
  readonly keys: ReadonlyArray<ThreadKey>
}

export type ThreadAsk =
  | {
    readonly type: "block"
    readonly words: ReadonlyArray<SearchWord>
    readonly block: Omit<OpenableBlock, "key">
    readonly key: ThreadKey
  }
  | { readonly type: "pages"; readonly criteria: MatchCriteria; readonly pages: ReadonlyArray<ThreadPage> }

export type ThreadAnswer =
  | { readonly type: "block"; readonly matches: BlockMatches | null }
  | { readonly type: "pages"; readonly matches: ReadonlyArray<PageMatches | null> }
  | { readonly type: "failed"; readonly reason: string }

/** An ask or an answer, by its number in the thread. */
export type Numbered<A> = A & { readonly id: number }

/** An ask, and the buffer that all its bytes are in. */
export interface Handed {
  readonly ask: ThreadAsk
  readonly buffer: ArrayBuffer
}

/** A buffer of the size, into which bytes are copied one after the other. */
const makeRoom = (size: number) => {
  const buffer = new ArrayBuffer(size)
  let at = 0
  const put = (bytes: Uint8Array): Uint8Array => {
    const copy = new Uint8Array(buffer, at, bytes.length)
    copy.set(bytes)
    at += bytes.length
    return copy
  }
  return { buffer, put }
}

export const handBlock = (
  words: ReadonlyArray<SearchWord>,
  { accountId, blockId, key, pages, sealed }: OpenableBlock
): Handed => {
  const bytes = Redacted.value(key.vocabularies)
  const { buffer, put } = makeRoom(bytes.length + sealed.length)
  const block = { accountId, blockId, pages, sealed: put(sealed) }
  return { ask: { type: "block", words, block, key: { ref: key.ref, key: put(bytes) } }, buffer }
}

const sizeOf = ({ keys, sealed }: OpenablePage): number =>
  keys.reduce((sum, { frames }) => sum + Redacted.value(frames).length, sealed.length)

export const handPages = (criteria: MatchCriteria, pages: ReadonlyArray<OpenablePage>): Handed => {
  const { buffer, put } = makeRoom(pages.reduce((sum, page) => sum + sizeOf(page), 0))
  const copyKey = ({ frames, ref }: FrameKey) => ({ ref, key: put(Redacted.value(frames)) })
  const own = pages.map(({ keys, page, sealed }) => ({ page, sealed: put(sealed), keys: keys.map(copyKey) }))
  return { ask: { type: "pages", criteria, pages: own }, buffer }
}
