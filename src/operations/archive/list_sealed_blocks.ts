import { Effect, type Schema } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import { readBase64, toBase64 } from "../../domain/archive/Bytes.ts"
import { decodeIds, encodeIds } from "../../domain/archive/MessageIds.ts"
import { SealedBlockList } from "../../domain/archive/SealedArchive.ts"
import { sealedBlocksParts, sealedScope } from "../../domain/archive/SealedRequests.ts"
import { ParameterInvalid, ResourceMissing } from "../../domain/Failure.ts"
import { sealedBytesPerAnswer, sealedPagesListed, sealedRowsPerAnswer } from "../../domain/Limits.ts"
import { archiveReaders, type Caller } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { ArchiveReads } from "../../ports/archive/ArchiveReads.ts"
import {
  type ListPosition,
  type SealedSearchPage,
  type SearchPage,
  type SearchScope,
  SearchStore
} from "../../ports/archive/SearchStore.ts"
import { Db } from "../../ports/Db.ts"
import { onePart } from "./OnePart.ts"
import * as samples from "./sealed.samples.ts"
import { readStates, SealedAnswer } from "./SealedAnswer.ts"

type Scope = Schema.Struct.Type<typeof sealedScope>
type Parts = Schema.Struct.Type<typeof sealedBlocksParts>

const seconds = (at: Date): number => at.getTime() / 1000
const date = (at: number): Date => new Date(Math.round(at * 1000))

const positionOf = (after: NonNullable<Parts["loose"]>["after"]): ListPosition | null =>
  after === undefined ? null : { lastAt: seconds(after.at), number: BigInt(after.number) }

/** The accounts that the request is about: those of its part are of its scope. */
const scopeOf = Effect.fnUntraced(function*(caller: Caller["Service"], asked: Scope, named: ReadonlyArray<AccountId>) {
  const db = yield* Db
  const accounts = yield* Accounts
  const ids = asked.account_ids ?? (named.length === 0 ? null : [...new Set(named)])
  const reached = yield* db.read(caller.organizationId, accounts.archived(caller, ids))
  const known = new Set(reached)
  if (ids?.some((id) => !known.has(id)) === true) return yield* new ResourceMissing({ param: "account_ids" })
  return {
    organizationId: caller.organizationId,
    accountIds: reached,
    chatIds: asked.chat_ids?.map(BigInt) ?? null,
    since: asked.since === undefined ? null : seconds(asked.since),
    until: asked.until === undefined ? null : seconds(asked.until)
  } satisfies SearchScope
})

const pageOf = (page: SearchPage) => ({
  account_id: page.accountId,
  chat_id: String(page.chatId),
  number: String(page.number),
  day: page.day,
  kind: page.kind,
  first_at: date(page.firstAt),
  last_at: date(page.lastAt),
  messages: page.messages,
  shared: page.shared,
  ids: null,
  sealed: null
})

/** Pages with their frames, and with the states of their messages. */
const framed = Effect.fnUntraced(function*(
  { organizationId }: SearchScope,
  taken: ReadonlyArray<SealedSearchPage>,
  answer: SealedAnswer
) {
  const namesIn = ({ ids, page: { chatId } }: SealedSearchPage) => ids.map((messageId) => ({ chatId, messageId }))
  const accounts = Map.groupBy(taken, ({ page }) => page.accountId)
  const states = new Map(
    yield* Effect.forEach(accounts, ([accountId, pages]) =>
      Effect.map(
        readStates({ organizationId, accountId }, pages.flatMap(namesIn), sealedBytesPerAnswer / accounts.size),
        (known) => [accountId, known] as const
      ), { concurrency: "unbounded" })
  )
  for (const [place, sealed] of taken.entries()) {
    const { accountId } = sealed.page
    const known = states.get(accountId)
    if (known === undefined || answer.stated < place) break
    answer.addStates({ organizationId, accountId }, [namesIn(sealed)], known)
  }
  return taken.map(({ ids, page, sealed }) => ({
    ...pageOf(page),
    ids: toBase64(encodeIds(ids)),
    sealed: answer.seal({ organizationId, accountId: page.accountId }, { ...page, sealed }).sealed
  }))
})

/** The candidates that a request names; fails where their numbers are not written as they should be. */
const candidatesIn = Effect.fnUntraced(function*({ candidates }: NonNullable<Parts["pages"]>) {
  const named = candidates.map(({ account_id, numbers }) =>
    decodeIds(readBase64(numbers) ?? new Uint8Array()).map((number) => ({ accountId: account_id, number }))
  )
  const pages = named.flat()
  const isGood = named.every((of) => of.length > 0) && pages.length <= sealedPagesListed &&
    pages.every(({ number }) => number < 2n ** 63n)
  if (isGood) return pages
  return yield* new ParameterInvalid({
    param: "pages",
    message: `pages: numbers are 1 to ${sealedPagesListed} in all, as varints of differences in base64.`
  })
})

const blocksOf = Effect.fnUntraced(function*(
  scope: SearchScope,
  { after, below, known, limit }: NonNullable<Parts["blocks"]>,
  answer: SealedAnswer
) {
  const store = yield* SearchStore
  const knows = new Set(known)
  const found = yield* store.blocks(scope, seconds(below), positionOf(after), limit, {
    bytes: sealedBytesPerAnswer,
    known: [...knows].map(BigInt)
  })
  const listed = found.reduce((size, { sealed }) => size + sealed.length, 0)
  if (listed >= sealedBytesPerAnswer) answer.has_more = true
  return answer.take(found, ({ sealed }) => sealed.length).map((block) => {
    const isKnown = knows.has(String(block.blockId))
    answer.need({ organizationId: scope.organizationId, accountId: block.accountId }, block.epochId)
    return {
      account_id: block.accountId,
      block_id: String(block.blockId),
      first_at: date(block.firstAt),
      last_at: date(block.lastAt),
      epoch_id: String(block.epochId),
      fold: block.fold,
      pages: isKnown ? "" : block.pages.join(","),
      sealed: isKnown ? null : toBase64(block.sealed)
    }
  })
})

/** Those of the pages, from the first on, that fit into the answer. */
const fitting = (pages: ReadonlyArray<SealedSearchPage>, answer: SealedAnswer) =>
  answer.take(pages, ({ sealed }) => sealed.length)

const pagesOf = Effect.fnUntraced(function*(scope: SearchScope, asked: Parts, answer: SealedAnswer) {
  const store = yield* SearchStore
  const { loose, message, pages, sealed } = asked
  if (loose !== undefined) {
    const { after, below, limit } = loose
    return (yield* store.loose(scope, seconds(below), positionOf(after), limit)).map(pageOf)
  }
  if (pages !== undefined) {
    const found = yield* store.pages(scope, yield* candidatesIn(pages), seconds(pages.below))
    const frames = yield* store.sealed(scope, found.slice(0, sealedRowsPerAnswer))
    const first = yield* framed(scope, fitting(frames, answer), answer)
    const sent = new Map(first.map((page) => [page.number, page]))
    answer.has_more = false
    return found.map((page) => sent.get(String(page.number)) ?? pageOf(page))
  }
  if (sealed !== undefined) {
    const names = sealed.map(({ account_id, number }) => ({ accountId: account_id, number: BigInt(number) }))
    return yield* framed(scope, fitting(yield* store.sealed(scope, names), answer), answer)
  }
  if (message === undefined) return []
  const { account_id, chat_id, message_id } = message
  // One page, or two while a tail is closed: they are not cut.
  const found = yield* store.messages(scope, account_id, BigInt(chat_id), [BigInt(message_id)])
  return yield* framed(scope, found, answer)
})

/** The accounts that the part of a request names. */
const namedIn = ({ message, pages, sealed }: Parts): ReadonlyArray<AccountId> => [
  ...(message === undefined ? [] : [message.account_id]),
  ...(pages?.candidates ?? []).map(({ account_id }) => account_id),
  ...(sealed ?? []).map(({ account_id }) => account_id)
]

export const listSealedBlocks = Operation.sealed(
  "list_sealed_blocks",
  {
    summary: "Read the archive as a search needs it, as it is stored: sealed vocabularies, and the pages they are of.",
    description:
      "For connections that open the archive on their user's own machine. A request has one of blocks, loose, pages, sealed and message. An answer has 4 MiB of sealed bytes or its first item: where has_more is true, ask for the rest. Nothing in it can be read without the archive password.",
    method: "POST",
    path: "/v1/archive/sealed/blocks",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    body: { ...sealedScope, ...sealedBlocksParts },
    failures: [ResourceMissing],
    success: SealedBlockList,
    sample: samples.listSealedBlocks
  },
  Effect.fnUntraced(function*({ account_ids, chat_ids, since, until, ...asked }, { caller }) {
    yield* onePart(asked)
    const limits = {
      ...(account_ids === undefined ? {} : { account_ids }),
      ...(chat_ids === undefined ? {} : { chat_ids }),
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until })
    }
    const scope = yield* scopeOf(caller, limits, namedIn(asked))
    const answer = new SealedAnswer()
    // Read before what they are the stamps of.
    const stamps = yield* (yield* SearchStore).stamps(scope)
    const blocks = asked.blocks === undefined ? [] : yield* blocksOf(scope, asked.blocks, answer)
    const pages = yield* pagesOf(scope, asked, answer)
    const attached = yield* answer.attached()
    const reads = yield* ArchiveReads
    const counts = new Map<AccountId, number>(blocks.map(({ account_id }) => [account_id, 0]))
    for (const { account_id, messages, sealed } of pages) {
      if (sealed !== null) counts.set(account_id, (counts.get(account_id) ?? 0) + messages)
    }
    yield* reads.note(caller, Array.from(counts, ([accountId, messages]) => ({ accountId, messages })))
    return {
      object: "sealed_blocks" as const,
      stamp: stamps.blocks,
      loose_stamp: stamps.loose,
      blocks,
      pages,
      ...attached
    }
  })
)
