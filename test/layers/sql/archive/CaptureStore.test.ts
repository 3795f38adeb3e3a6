import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { afterSelection, type CapturedChat } from "../../../../src/domain/archive/CapturedChat.ts"
import type { ChatType } from "../../../../src/domain/archive/Chat.ts"
import { isComplete } from "../../../../src/domain/archive/ChatProgress.ts"
import { cover } from "../../../../src/domain/archive/CoveredRanges.ts"
import { select } from "../../../../src/domain/archive/RuleSelection.ts"
import { ArchiveRules } from "../../../../src/ports/archive/ArchiveRules.ts"
import { ArchiveRuns } from "../../../../src/ports/archive/ArchiveRuns.ts"
import { CaptureStore } from "../../../../src/ports/archive/CaptureStore.ts"
import * as Archives from "../../../support/archive/archives.ts"
import { tried } from "../../../support/drawn.ts"
import { pglite } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"

const chatsPerSample = 60

const ids = fc.bigInt({ min: 1n, max: 400n })
const dates = fc.integer({ min: 0, max: 1_000_000 }).map((seconds) => new Date(Archives.beginning - seconds * 1000))
const types: ReadonlyArray<ChatType> = ["private", "group", "channel", "bot", "saved"]

const ranges = fc.array(fc.tuple(ids, fc.bigInt({ min: 1n, max: 50n })), { maxLength: 4 }).map((all) =>
  all.reduce<CapturedChat["progress"]["covered"]>(
    (covered, [low, size]) => cover(covered, { low, high: low + size }),
    []
  )
)

const unchecked = fc.tuple(ids, ids).map(([one, other]) =>
  one === other ? null : one < other ? { below: other, to: one } : { below: one, to: other }
)

const nullable = <A>(values: fc.Arbitrary<A>) => fc.option(values, { nil: null })

const chat = fc.record({
  type: fc.constantFrom(...types),
  ref: fc.string({ minLength: 1 }).filter((text) => !text.includes("\u0000")),
  effect: fc.constantFrom("archive" as const, "skip" as const, "review" as const),
  live: fc.boolean(),
  protected: fc.boolean(),
  joinedAt: nullable(dates),
  leftAt: nullable(dates),
  position: nullable(fc.integer({ min: 1, max: 2 ** 31 - 1 })),
  progress: fc.record({
    covered: ranges,
    edge: nullable(ids),
    floor: nullable(ids),
    topId: nullable(ids),
    reachedAt: nullable(dates)
  }),
  counted: nullable(fc.integer({ min: 0, max: 2 ** 31 - 1 })),
  floorAt: nullable(dates),
  unchecked: nullable(unchecked),
  refusedUntil: nullable(dates),
  members: nullable(fc.integer({ min: 0, max: 200_000 })),
  membersAt: nullable(dates)
}).map((facts) => ({
  ...facts,
  ruleId: null,
  stopped: false,
  migratedTo: null,
  cleaned: [],
  lastId: null
}))

const samples = fc.sample(chat, tried(5 * chatsPerSample))

/** Different chats of one account; a later sample has the same ones with other facts. */
const sample = (number: 1 | 2 | 3 | 4 | 5): ReadonlyArray<CapturedChat> =>
  samples.slice((number - 1) * chatsPerSample, number * chatsPerSample).map((facts, place) => ({
    ...facts,
    chatId: BigInt(place + 1)
  }))

describe("chats as capture keeps them", () => {
  layer(World.world(pglite))((it) => {
    const stage = Effect.gen(function*() {
      const { account } = yield* Archives.makeArchive()
      const store = yield* CaptureStore
      const keep = (chats: ReadonlyArray<CapturedChat>, how: "keep" | "see") =>
        Archives.commit({ account }, Effect.forEach(chats, (chat) => store[how](account, chat), { discard: true }))
      const read = Effect.map(
        Archives.commit({ account }, store.chats(account, null)),
        (chats) => chats.toSorted((one, other) => Number(one.chatId - other.chatId))
      )
      return { account, keep, read }
    })

    it.effect("are read as they were seen, whatever was known of them before", () =>
      Effect.gen(function*() {
        const { account, keep, read } = yield* stage
        for (const number of [1, 2] as const) {
          const chats = sample(number)
          yield* keep(chats, "see")
          expect(yield* read).toEqual(chats)
        }
        const complete = yield* World.query<{ complete: boolean }>(
          account.organizationId,
          (sql) => sql`select complete from archive_chat order by chat_id`
        )
        expect(complete.map((row) => row.complete)).toEqual(sample(2).map(({ progress }) => isComplete(progress)))
      }))

    it.effect("have other promises once these are kept, and are judged as before", () =>
      Effect.gen(function*() {
        const { keep, read } = yield* stage
        const before = sample(3)
        yield* keep(before, "see")
        const after = sample(4)
        yield* keep(after, "keep")
        expect(yield* read).toEqual(after.map((chat, place) => {
          const { effect, joinedAt, live, members, protected: isProtected, ref, type } = before[place]!
          return { ...chat, effect, joinedAt, live, members, protected: isProtected, ref, type }
        }))
      }))

    it.effect("are compared again from their recent messages on, and small ones whole", () =>
      Effect.gen(function*() {
        const archive = yield* Archives.makeArchive()
        const writer = yield* Archives.write(archive)
        const since = Archives.beginning / 1000 - 100
        for (const [chatId, messages] of [[1n, 500], [2n, 501]] as const) {
          yield* Archives.commit(archive, writer.see({ ...Archives.chat, chatId }))
          const all = Array.from({ length: messages }, (_, n) => Archives.seen(n + 1, n < 400 ? 200 : 50, "x"))
          for (let at = 0; at < messages; at += 100) {
            yield* Archives.commit(archive, writer.append(chatId, all.slice(at, at + 100), "sweep"))
          }
        }
        const store = yield* CaptureStore
        const first = yield* Archives.commit(
          archive,
          store.firstSince(archive.account, [1n, 2n], new Date(since * 1000))
        )
        expect([...first].toSorted()).toEqual([[1n, 1n], [2n, 401n]])
      }))

    it.effect("are judged by changed rules in the database as when they are seen, also where they continue others", () =>
      Effect.gen(function*() {
        const { account, keep, read } = yield* stage
        const { accountId, organizationId } = account
        // Each odd chat is continued by the next one.
        yield* keep(
          sample(5).map((chat) => ({ ...chat, migratedTo: chat.chatId % 2n === 1n ? chat.chatId + 1n : null })),
          "see"
        )
        const rules = yield* ArchiveRules
        for (
          const [level, selector, effect] of [
            ["organization", "channel", "archive"],
            ["account", "group", "skip"],
            ["organization", "any", "archive"],
            ["account", "private", "review"],
            ["account", 5n, "archive"],
            ["account", 8n, "skip"],
            ["organization", "bot", "skip"],
            ["account", "any", "review"]
          ] as const
        ) {
          const before = yield* read
          const chatId = typeof selector === "bigint" ? selector : null
          const chatType = typeof selector === "bigint" ? null : selector
          const scope = { level, target: level === "account" ? accountId : null, chatId }
          const now = new Date(Archives.beginning)
          yield* Archives.commit(
            { account },
            Effect.andThen(
              rules.add(organizationId, {
                ...scope,
                chatType,
                effect,
                media: "none",
                maxFileBytes: null,
                live: chatType === "any",
                updatedAt: now,
                updatedBy: null
              }),
              rules.selectAgain(organizationId, scope, now)
            )
          )
          const inEffect = yield* Archives.commit({ account }, rules.inEffect(account))
          const continued = new Map(
            before.flatMap((chat) =>
              chat.migratedTo === null ? [] : [[chat.migratedTo, select(inEffect, { ...chat, predecessor: null })]]
            )
          )
          expect(yield* read).toEqual(
            before.map((chat) =>
              afterSelection(chat, select(inEffect, { ...chat, predecessor: continued.get(chat.chatId) ?? null }))
            )
          )
        }
      }))

    it.effect("wait no longer for a run that failed before it began, and wait for one that was asked for while it ran", () =>
      Effect.gen(function*() {
        const { account } = yield* stage
        const store = yield* CaptureStore
        const now = new Date(Archives.beginning)
        const fail = Archives.commit(
          { account },
          store.end(
            account,
            { error: "messenger_refused", retryAt: null, nextAt: now, done: false, askedAt: null },
            now
          )
        )
        const queued = World.query<{ queued: boolean }>(
          account.organizationId,
          (sql) =>
            sql`select archive_queued_at is not null as queued from archive_state where account_id = ${account.accountId}`
        )
        yield* World.set(account.organizationId, "account", account.accountId, { archive_queued_at: now })
        yield* fail
        expect(yield* queued).toEqual([{ queued: false }])
        yield* Archives.commit({ account }, (yield* ArchiveRuns).request(account, now))
        yield* fail
        expect(yield* queued).toEqual([{ queued: true }])
      }))
  })
})
