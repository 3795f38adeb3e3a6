/** Opened vocabularies that a reader on its own machine keeps in memory: a search again opens none of them. */
import { Effect } from "effect"
import type { SearchBlock } from "../ports/archive/SearchStore.ts"
import type { KeptVocabularies } from "./InlineMatcher.ts"
import type { OpenVocabulary } from "./Vocabularies.ts"

/** Characters of words and bytes of postings that are kept; the oldest go first. */
const mostKept = 64 * 1024 * 1024

const nameOf = ({ accountId, blockId }: Pick<SearchBlock, "accountId" | "blockId">): string => `${accountId} ${blockId}`

export const makeKeptVocabularies = (): KeptVocabularies => {
  const known = new Map<string, { readonly opened: OpenVocabulary; size: number }>()
  let size = 0

  const grow = (name: string, by: number) => {
    const entry = known.get(name)
    if (entry === undefined) return
    entry.size += by
    size += by
    for (const [oldest, { size: freed }] of known) {
      if (size <= mostKept) return
      known.delete(oldest)
      size -= freed
    }
  }

  return {
    get: (block) => known.get(nameOf(block))?.opened,
    set: (block, opened) => {
      const name = nameOf(block)
      let postings: Uint8Array | undefined
      const kept = Effect.suspend(() =>
        postings === undefined
          ? Effect.tap(opened.postings, (read) =>
            Effect.sync(() => {
              postings = read
              grow(name, read.length)
            }))
          : Effect.succeed(postings)
      )
      known.set(name, { opened: { ...opened, postings: kept }, size: 0 })
      grow(name, opened.words.length)
    }
  }
}
