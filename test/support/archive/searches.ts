/** Searches of a made-up archive in memory. */
import { expect } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { makeInlineMatcher } from "../../../src/archive/InlineMatcher.ts"
import { search, type SearchBudget, type SearchRequest, type SearchResult } from "../../../src/archive/Search.ts"
import type { MessageRecord } from "../../../src/domain/archive/Records.ts"
import type { SearchPosition } from "../../../src/domain/archive/SearchHit.ts"
import { searchWords } from "../../../src/domain/archive/SearchWords.ts"
import * as NodeCrypto from "../../../src/layers/archive/NodeCrypto.ts"
import type { ArchiveCrypto, PasswordDerivation } from "../../../src/ports/archive/ArchiveCrypto.ts"
import { SearchMatcher } from "../../../src/ports/archive/SearchMatcher.ts"
import * as Vectors from "./archiveVectors.ts"
import * as Memory from "./memorySearchStore.ts"
import { accountIds, keys, openKey, start, type Written } from "./searchedArchive.ts"

export type Criteria = Pick<SearchRequest, "fromId" | "kind"> & { readonly scope: Partial<SearchRequest["scope"]> }

export const requestOf = (query: string, limit: number, { fromId, kind, scope }: Criteria): SearchRequest => ({
  scope: { organizationId: Vectors.organizationId, accountIds, chatIds: null, since: null, until: null, ...scope },
  words: searchWords(query),
  fromId,
  kind,
  limit,
  position: null
})

export const everything: Criteria = { fromId: null, kind: null, scope: {} }

/** All results of a search, one after the other. */
export const searchAll = Effect.fnUntraced(function*(
  archive: () => Memory.StoredArchive,
  request: SearchRequest,
  budget?: SearchBudget
) {
  const opened = yield* keys
  const results: Array<SearchResult> = []
  let position: SearchPosition | null = null
  do {
    const result: SearchResult = yield* search(openKey(opened), { ...request, position }, budget).pipe(
      Effect.provide(Memory.layer(archive))
    )
    results.push(result)
    position = result.position
  } while (position !== null && results.length < 500)
  expect(results.length).toBeLessThan(500)
  return results
})

export const run = <A, E>(effect: Effect.Effect<A, E, ArchiveCrypto | PasswordDerivation | SearchMatcher>) =>
  Effect.runPromise(
    Effect.provide(
      effect,
      Layer.provideMerge(
        Layer.effect(SearchMatcher, makeInlineMatcher()),
        Layer.merge(NodeCrypto.layer, Vectors.cheapDerivation)
      )
    )
  )

export const writtenAt = (
  text: string,
  at: number,
  more: Partial<Written> = {},
  message: Partial<MessageRecord> = {}
) => ({
  chat: { chatId: 1n, shared: false },
  accounts: [0],
  edits: [],
  ...more,
  message: {
    id: BigInt(at),
    at: start + at,
    archivedAt: start + at,
    from: null,
    kind: "text" as const,
    text,
    details: {},
    ...message
  }
})
