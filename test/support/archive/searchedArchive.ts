/** An archive in memory that tests search: messages of two accounts, in pages that are loose or in blocks. */
import { Effect } from "effect"
import * as fc from "fast-check"
import * as EpochKeys from "../../../src/archive/EpochKeys.ts"
import type { EpochKey } from "../../../src/domain/archive/Epoch.ts"
import { dayOf } from "../../../src/domain/archive/PageRules.ts"
import type { EditRecord, MessageRecord } from "../../../src/domain/archive/Records.ts"
import { ArchiveUnreadable } from "../../../src/domain/archive/Unreadable.ts"
import * as NodeCrypto from "../../../src/layers/archive/NodeCrypto.ts"
import * as Vectors from "./archiveVectors.ts"
import * as Memory from "./memorySearchStore.ts"
import { texts } from "./scripts.ts"

export const accountIds = [Vectors.accountId, Vectors.otherAccountId]
export const start = Date.UTC(2026, 2, 1) / 1000
export const chats = [{ chatId: 1n, shared: false }, { chatId: -1002n, shared: true }]

/** A message, the accounts that have it, and its edits. */
export interface Written {
  readonly chat: (typeof chats)[number]
  readonly message: MessageRecord
  readonly accounts: ReadonlyArray<number>
  readonly edits: ReadonlyArray<EditRecord>
}

export const written: fc.Arbitrary<ReadonlyArray<Written>> = fc.array(
  fc.record({
    chat: fc.constantFrom(...chats),
    gap: fc.constantFrom(0, 1, 40_000),
    text: texts,
    caption: fc.option(texts, { freq: 2 }),
    sender: fc.constantFrom("u1", "u2"),
    kind: fc.constantFrom("text" as const, "photo" as const),
    accounts: fc.constantFrom([0], [1], [0, 1]),
    edits: fc.array(fc.tuple(fc.constantFrom(1, 90_000), texts), { maxLength: 2 })
  }),
  { minLength: 1, maxLength: 25 }
).map((drawn) => {
  let at = start
  return drawn.map(({ accounts, caption, chat, edits, gap, kind, sender, text }, index): Written => {
    at += gap
    const id = BigInt(index + 1)
    const from = { id: sender, name: null, username: null }
    const details = caption === null ? {} : { caption }
    return {
      chat,
      accounts,
      message: { id, at, archivedAt: at, from, kind, text, details },
      edits: edits.map(([later, edited]) => ({
        change: "edited",
        id: String(id),
        seen_at: at + later,
        edited_at: at + later,
        text: edited,
        details: {}
      }))
    }
  })
})

/** What becomes of a page: it stays loose, or is in a block, whose vocabulary may be unusable. */
export const fates = fc.array(fc.constantFrom("loose", "one", "two", "folded otherwise", "broken"), {
  minLength: 1,
  maxLength: 12
})

type Fate = "loose" | "one" | "two" | "folded otherwise" | "broken"

export const keys = Effect.forEach(
  accountIds,
  (accountId) => EpochKeys.newEpoch({ ...Vectors.epochRef(1n), accountId }, Vectors.publicKey)
).pipe(
  Effect.map((epochs) => epochs.map(({ key }) => key)),
  Effect.provide(NodeCrypto.layer),
  Effect.cached,
  Effect.runSync
)

export const openKey = (opened: ReadonlyArray<EpochKey>) => (accountId: EpochKey["ref"]["accountId"]) => {
  const key = opened.find(({ ref }) => ref.accountId === accountId)
  return key === undefined ? Effect.fail(new ArchiveUnreadable({ part: "epoch" })) : Effect.succeed(key)
}

/** The records of an account by chat and day, messages apart from edits; some pages are cut in two. */
const pagesOf = (all: ReadonlyArray<Written>, account: number, most: number) => {
  const groups = new Map<
    string,
    {
      readonly chat: Written["chat"]
      readonly at: number
      readonly sentDay: string
      records: Array<MessageRecord | EditRecord>
    }
  >()
  const put = (chat: Written["chat"], at: number, sentDay: string, record: MessageRecord | EditRecord) => {
    const key = `${chat.chatId}/${Math.floor(at / 86_400)}/${"change" in record ? sentDay : ""}`
    const group = groups.get(key)
    if (group === undefined || group.records.length >= most) {
      if (group !== undefined) groups.set(`${key}/${groups.size}`, group)
      groups.set(key, { chat, at, sentDay, records: [record] })
    } else {
      groups.set(key, { ...group, at: Math.max(group.at, at), records: [...group.records, record] })
    }
  }
  for (const { accounts, chat, edits, message } of all) {
    if (!accounts.includes(account)) continue
    const sentDay = dayOf(message.at)
    put(chat, message.at, sentDay, message)
    for (const edit of edits) put(chat, edit.seen_at, sentDay, edit)
  }
  return [...groups.values()]
}

export const store = Effect.fnUntraced(
  function*(all: ReadonlyArray<Written>, most: number, drawn: ReadonlyArray<Fate>) {
    const opened = yield* keys
    let number = 0n
    const pages: Array<Memory.StoredPage> = []
    const blocks: Array<Memory.StoredArchive["blocks"][number]> = []
    for (const [account, key] of opened.entries()) {
      const fated = new Map<Fate, Array<Memory.StoredPage>>()
      for (const { at, chat, records, sentDay } of pagesOf(all, account, most)) {
        number += 1n
        const page = yield* Memory.sealPage(key, chat, number, at, records, sentDay)
        pages.push(page)
        const fate = drawn[Number(number) % drawn.length] ?? "loose"
        fated.set(fate, [...(fated.get(fate) ?? []), page])
      }
      for (const [fate, held] of fated) {
        if (fate === "loose") continue
        const block = yield* Memory.sealBlock(key, ++number, held)
        const sealed = fate === "broken" ? block.sealed.map((byte, at) => at === 40 ? byte ^ 1 : byte) : block.sealed
        blocks.push({ ...block, sealed, fold: fate === "folded otherwise" ? 0 : block.fold })
      }
    }
    return { pages, blocks }
  }
)
