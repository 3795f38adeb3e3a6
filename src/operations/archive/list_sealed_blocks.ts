import { Effect, type Schema } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import { toBase64 } from "../../domain/archive/Bytes.ts"
import { encodeIds } from "../../domain/archive/MessageIds.ts"
import { SealedBlockList } from "../../domain/archive/SealedArchive.ts"
import { sealedBlocksParts, sealedScope } from "../../domain/archive/SealedRequests.ts"
import { ResourceMissing } from "../../domain/Failure.ts"
import { sealedBytesPerAnswer, sealedPagesAttached } from "../../domain/Limits.ts"
import { archiveReaders, type Caller } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { ArchiveReads } from "../../ports/archive/ArchiveReads.ts"
import {
  type SealedSearchPage,
  type SearchPage,
  type SearchScope,
  SearchStore
} from "../../ports/archive/SearchStore.ts"
import { Db } from "../../ports/Db.ts"
import { onePart } from "./OnePart.ts"
import * as samples from "./Sealed.samples.ts"
import { readStates, SealedAnswer } from "./SealedAnswer.ts"

type Scope = Schema.Struct.Type<typeof sealedScope>
type Parts = Schema.Struct.Type<typeof sealedBlocksParts>

const seconds = (at: Date): number => at.getTime() / 1000
const date = (at: number): Date => new Date(Math.round(at * 1000))

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
  const chats = Map.groupBy(taken, ({ page }) => `${page.accountId} ${page.chatId}`)
  const states = new Map(
    yield* Effect.forEach(chats, ([name, [first, ...more]]) =>
      Effect.gen(function*() {
        if (first === undefined) return [name, { changes: [], files: [] }] as const
        const { accountId, chatId } = first.page
        const ids = [first, ...more].flatMap((page) => page.ids)
        return [name, yield* readStates({ organizationId, accountId }, chatId, ids)] as const
      }), { concurrency: "unbounded" })
  )
  for (const [place, { ids, page }] of taken.entries()) {
    const known = states.get(`${page.accountId} ${page.chatId}`)
    if (known === undefined || answer.stated < place) break
    answer.addStates({ organizationId, accountId: page.accountId }, page.chatId, [ids], known)
  }
  return taken.map(({ ids, page, sealed }) => ({
    ...pageOf(page),
    ids: toBase64(encodeIds(ids)),
    sealed: answer.seal({ organizationId, accountId: page.accountId }, { ...page, sealed }).sealed
  }))
})

const blocksOf = Effect.fnUntraced(function*(
  scope: SearchScope,
  { after, below, known, limit }: NonNullable<Parts["blocks"]>,
  answer: SealedAnswer
) {
  const store = yield* SearchStore
  const position = after === undefined ? null : { lastAt: seconds(after.at), number: BigInt(after.number) }
  const knows = new Set(known)
  const found = yield* store.blocks(scope, seconds(below), position, limit, sealedBytesPerAnswer)
  const listed = found.reduce((size, { sealed }) => size + sealed.length, 0)
  if (listed >= sealedBytesPerAnswer) answer.has_more = true
  const taken = answer.take(found, ({ blockId, sealed }) => knows.has(String(blockId)) ? 0 : sealed.length)
  return taken.map((block) => {
    answer.need({ organizationId: scope.organizationId, accountId: block.accountId }, block.epochId)
    return {
      account_id: block.accountId,
      block_id: String(block.blockId),
      first_at: date(block.firstAt),
      last_at: date(block.lastAt),
      epoch_id: String(block.epochId),
      fold: block.fold,
      pages: block.pages.map(String),
      sealed: knows.has(String(block.blockId)) ? null : toBase64(block.sealed)
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
    const position = after === undefined ? null : { lastAt: seconds(after.at), number: BigInt(after.number) }
    return (yield* store.loose(scope, seconds(below), position, limit)).map(pageOf)
  }
  if (pages !== undefined) {
    const block = { accountId: pages.account_id, blockId: BigInt(pages.block_id) }
    const found = yield* store.pages(scope, block, pages.numbers.map(BigInt))
    const newest = [...found].sort((one, other) => other.lastAt - one.lastAt)
    const frames = yield* store.sealed(scope, newest.slice(0, sealedPagesAttached))
    const first = yield* framed(scope, fitting(frames, answer), answer)
    const sent = new Set(first.map(({ number }) => number))
    answer.has_more = false
    return [...first, ...newest.filter(({ number }) => !sent.has(String(number))).map(pageOf)]
  }
  if (sealed !== undefined) {
    const names = sealed.map(({ account_id, number }) => ({ accountId: account_id, number: BigInt(number) }))
    return yield* framed(scope, fitting(yield* store.sealed(scope, names), answer), answer)
  }
  if (message === undefined) return []
  const { account_id, chat_id, message_id } = message
  // One page, or two while a tail is closed: they are not cut.
  const found = yield* store.message(scope, account_id, BigInt(chat_id), BigInt(message_id))
  return yield* framed(scope, found, answer)
})

/** The accounts that the part of a request names. */
const namedIn = ({ message, pages, sealed }: Parts): ReadonlyArray<AccountId> => [
  ...(message === undefined ? [] : [message.account_id]),
  ...(pages === undefined ? [] : [pages.account_id]),
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
    // Read before what it is the stamp of.
    const stamp = yield* (yield* SearchStore).stamp(scope)
    const blocks = asked.blocks === undefined ? [] : yield* blocksOf(scope, asked.blocks, answer)
    const pages = yield* pagesOf(scope, asked, answer)
    const attached = yield* answer.attached()
    const reads = yield* ArchiveReads
    const counts = new Map<AccountId, number>(blocks.map(({ account_id }) => [account_id, 0]))
    for (const { account_id, messages, sealed } of pages) {
      if (sealed !== null) counts.set(account_id, (counts.get(account_id) ?? 0) + messages)
    }
    yield* Effect.forEach(counts, ([accountId, messages]) => reads.note(caller, accountId, messages, 0), {
      concurrency: "unbounded",
      discard: true
    })
    return { object: "sealed_blocks" as const, stamp, blocks, pages, ...attached }
  })
)
