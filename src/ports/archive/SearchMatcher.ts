/** Opening of sealed vocabularies and pages, and looking for the words of a search in them. */
import { Context, type Effect } from "effect"
import type { FrameKey, VocabularyKey } from "../../domain/archive/Epoch.ts"
import type { EditRecord, MessageKind, MessageRecord } from "../../domain/archive/Records.ts"
import type { SearchWord } from "../../domain/archive/SearchWords.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { SealedSearchPage, SearchBlock, SearchScope } from "./SearchStore.ts"

/** All that a message must have to be found. */
export interface MatchCriteria extends Pick<SearchScope, "since" | "until"> {
  /** At least one. */
  readonly words: ReadonlyArray<SearchWord>
  readonly fromId: string | null
  readonly kind: MessageKind | null
}

export interface BlockMatches {
  /** Messages of the block's pages. */
  readonly messages: number
  /** Positions in the block of the pages that can match, ascending. */
  readonly positions: ReadonlyArray<number>
  /** Bytes that were opened for that. */
  readonly read: number
}

/** A sealed vocabulary with the key of its epoch; `pages` is their number. */
export interface OpenableBlock extends Pick<SearchBlock, "accountId" | "blockId" | "sealed"> {
  readonly key: VocabularyKey
  readonly pages: number
}

/** A page with the keys of its frames. */
export interface OpenablePage extends Pick<SealedSearchPage, "page" | "sealed"> {
  readonly keys: ReadonlyArray<FrameKey>
}

/** Messages of a page that match; and edits with the words, whatever else their messages are. */
export interface PageMatches {
  readonly messages: ReadonlyArray<MessageRecord>
  readonly edits: ReadonlyArray<EditRecord>
}

/** Laws: no key is kept once it has answered; all layers answer the same. */
export class SearchMatcher extends Context.Service<SearchMatcher, {
  /** Null where the block's vocabulary does not open, or is not one of its pages. */
  block(
    words: ReadonlyArray<SearchWord>,
    block: OpenableBlock
  ): Effect.Effect<BlockMatches | null, ServiceUnavailable>
  /** Of each page in their order; null where it does not open. */
  pages(
    criteria: MatchCriteria,
    pages: ReadonlyArray<OpenablePage>
  ): Effect.Effect<ReadonlyArray<PageMatches | null>, ServiceUnavailable>
}>()("org-security-console/ports/archive/SearchMatcher") {}
