import { describe, expect, layer } from "@effect/vitest"
import { Effect, Exit, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { runArchiveCleanups } from "../../src/jobs/archive/run_archive_cleanups.ts"
import type { AccountArchive } from "../../src/ports/archive/ArchiveWriter.ts"
import { setArchiveKey } from "../support/archive/archiveKeys.ts"
import * as Archives from "../support/archive/archives.ts"
import { dropBlocks, placesOf } from "../support/archive/loosePages.ts"
import * as Searched from "../support/archive/searched.ts"
import { tried } from "../support/drawn.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const { beginning, commit } = Archives

/** A private chat, and a channel whose messages every account sees under one id. */
const chats = [4242n, -1_000_000_000_042n] as const

const words = ["harbour", "HARBOURS", "lantern", "Straße", "договор", "東京都", "2026-0417", "naïve"]
const text = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(" "))

const id = fc.integer({ min: 1, max: 60 })
const place = { account: fc.integer({ min: 0, max: 2 }), chat: fc.constantFrom(...chats) }
const path = fc.constantFrom("live" as const, "sweep" as const)

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("append" as const),
      ...place,
      path,
      messages: fc.uniqueArray(fc.record({ id, text }), { selector: (one) => one.id, maxLength: 40, size: "max" })
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("edit" as const),
      ...place,
      path,
      id,
      text,
      date: fc.integer({ min: 1, max: 9 })
    })
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("delete" as const), ...place, path, id }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("redact" as const), ...place, id }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("clean up" as const),
      ...place,
      path,
      meanwhile: fc.uniqueArray(fc.integer({ min: 61, max: 66 }), { minLength: 1, maxLength: 3 })
    })
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("close" as const), account: place.account }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("take over" as const), account: place.account }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("drop blocks" as const), modulus: fc.integer({ min: 1, max: 3 }) })
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("search" as const), text }) }
)

/** A day for each message, so that many pages come of few. */
const atOf = (id: number) => Math.floor(beginning / 1000) - 86_400 * (70 - id)

interface Known {
  readonly accountId: string
  readonly chatId: bigint
  readonly id: bigint
  readonly at: number
  readonly texts: Map<number, string>
  readonly isRedacted?: boolean
}

const written = (model: ReadonlyMap<string, Known>): ReadonlyArray<Searched.Written> =>
  [...model.values()].map(({ accountId, at, chatId, id, texts }) => ({
    accountId,
    at,
    chatId,
    id,
    texts: [...texts].sort(([one], [other]) => one - other).map(([, text]) => text)
  }))

const query = fc.tuple(fc.constantFrom(...words, "arbo", "unfound"), fc.constantFrom("", " lantern", " harb"))
  .map((parts) => parts.join(""))

/** Fewer where statements, the same on both, take longer. */
const histories = { PGlite: 1, PostgreSQL: 4 }

describe("a search of the archive over REST", () => {
  forEachDatabase((name, database) => {
    layer(World.world(database))((it) => {
      it.effect(
        "finds what a comparison of every text finds, on pages of any size, whatever was edited, deleted, redacted, cleaned up beside a writer, closed, and dropped of the vocabularies; and nothing of an account that the caller cannot access",
        () =>
          Effect.gen(function*() {
            const played = fc.sample(
              fc.tuple(
                fc.array(step, { minLength: 10, maxLength: 25, size: "max" }),
                fc.array(query, { minLength: 3, maxLength: 3 }),
                fc.integer({ min: 1, max: 9 })
              ),
              tried(histories[name])
            )
            let blocks = 0
            for (const [steps, queries, limit] of played) {
              yield* TestClock.setTime(beginning)
              const { admins, id: organizationId } = yield* World.makeOrganization()
              yield* setArchiveKey(organizationId)
              const accounts = [
                yield* World.makeAccount(organizationId),
                yield* World.makeAccount(organizationId),
                yield* World.makeAccount(organizationId)
              ]
              const reached = accounts.slice(0, 2)
              yield* World.set(organizationId, "admin", admins.admin.id, { archive_access: true })
              yield* World.grant(organizationId, admins.admin.id, { accounts: reached })
              const [owner, admin] = [admins.owner.key, admins.admin.key].map((key) => Redacted.value(key))
              const model = new Map<string, Known>()
              const scope = yield* Scope.make()
              const take = (account: string) =>
                Effect.provideService(Searched.own(organizationId, account), Scope.Scope, scope)
              const writers: Array<AccountArchive> = []
              for (const account of accounts) {
                const writer = yield* take(account)
                for (const chatId of chats) {
                  yield* commit(
                    { account: { organizationId, accountId: account } },
                    writer.see({ ...Archives.chat, chatId })
                  )
                }
                writers.push(writer)
              }
              const write = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
                commit({ account: { organizationId, accountId: accounts[0]! } }, effect)
              for (const it of steps) {
                yield* TestClock.adjust("1 minute")
                if (it.do === "search") {
                  yield* Searched.searchAll(owner!, { query: it.text })
                } else if (it.do === "drop blocks") {
                  yield* dropBlocks(organizationId, it.modulus)
                } else if (it.do === "close") {
                  yield* writers[it.account]!.close("all")
                } else if (it.do === "take over") {
                  writers[it.account] = yield* take(accounts[it.account]!)
                } else {
                  const accountId = accounts[it.account]!
                  const writer = writers[it.account]!
                  const keyOf = (id: number) => `${accountId}/${it.chat}/${id}`
                  const seen = (id: number, text: string, date: number) => ({
                    ...Archives.seen(id, 0, text, date === 0 ? {} : { edited_at: atOf(id) + date }),
                    at: atOf(id)
                  })
                  const known = (id: number): Known => ({
                    accountId,
                    chatId: it.chat,
                    id: BigInt(id),
                    at: atOf(id),
                    texts: new Map()
                  })
                  if (it.do === "redact") {
                    if (!model.has(keyOf(it.id))) continue
                    const { status } = yield* World.send(
                      "POST",
                      `/v1/archive/accounts/${accountId}/chats/${it.chat}/redactions`,
                      { key: owner!, body: { message_ids: [String(it.id)], reason: "A card number" } }
                    )
                    expect(status).toBe(200)
                    model.set(keyOf(it.id), { ...known(it.id), isRedacted: true })
                  } else if (it.do === "clean up") {
                    const { body } = yield* World.send("POST", "/v1/archive/cleanups", {
                      key: owner!,
                      body: { criteria: { account_ids: [accountId] }, stop_saving: false }
                    })
                    const cleaned = [...model].filter(([, message]) => message.accountId === accountId)
                    if (cleaned.length === 0) continue
                    const meanwhile = it.meanwhile.filter((id) => !model.has(keyOf(id)))
                    yield* write(
                      writer.append(it.chat, meanwhile.map((id) => seen(id, "harbour meanwhile", 0)), it.path)
                    )
                    const { body: confirmed } = yield* World.send("POST", `/v1/archive/cleanups/${body.id}/confirm`, {
                      key: owner!,
                      body: { confirm_phrase: body.confirm_phrase }
                    })
                    expect([body.messages, confirmed.state]).toEqual([cleaned.length, "queued"])
                    yield* runArchiveCleanups.run
                    for (const [key] of cleaned) {
                      model.delete(key)
                      firstDates.delete(key)
                    }
                    // What came after the preview is above its watermark, and stays.
                    for (const id of meanwhile) {
                      model.set(keyOf(id), { ...known(id), texts: new Map([[0, "harbour meanwhile"]]) })
                    }
                  } else if (it.do === "append") {
                    // Only the writer that has seen both can distinguish texts of one second.
                    const messages = it.messages.filter(({ id }) => {
                      const texts = model.get(keyOf(id))?.texts
                      return texts?.has(editedFirst) !== true || !texts.has(0)
                    })
                    yield* write(writer.append(it.chat, messages.map(({ id, text }) => seen(id, text, 0)), it.path))
                    for (const { id, text } of messages) {
                      const message = model.get(keyOf(id)) ?? known(id)
                      if (message.isRedacted) continue
                      if (!message.texts.has(0)) message.texts.set(0, text)
                      model.set(keyOf(id), message)
                    }
                  } else if (it.do === "edit") {
                    const before = model.get(keyOf(it.id))
                    const message = before ?? known(it.id)
                    if (message.texts.has(it.date) || firstDates.get(keyOf(it.id)) === it.date) continue
                    yield* write(writer.append(it.chat, [seen(it.id, it.text, it.date)], it.path))
                    if (message.isRedacted) continue
                    // First seen with its edit, the message has that text as its first, whatever is seen later.
                    if (before === undefined) firstDates.set(keyOf(it.id), it.date)
                    message.texts.set(before === undefined ? editedFirst : it.date, it.text)
                    model.set(keyOf(it.id), message)
                  } else {
                    yield* write(writer.mark(it.chat, [BigInt(it.id)], "deleted", it.path))
                  }
                }
              }
              const all = written(model)
              const check = Effect.gen(function*() {
                for (const query of queries) {
                  const expected = Searched.bruteForce(all, query)
                  expect(yield* Searched.searchAll(owner!, { query, limit })).toEqual(expected)
                  expect(yield* Searched.searchAll(owner!, { query, limit: 100 })).toEqual(expected)
                  const mine = all.filter(({ accountId }) => reached.some((id) => id === accountId))
                  expect(yield* Searched.searchAll(admin!, { query, limit })).toEqual(Searched.bruteForce(mine, query))
                }
              })
              yield* check
              yield* Scope.close(scope, Exit.void)
              yield* check
              const places = yield* placesOf(organizationId)
              expect(places).toMatchObject({ misplaced: 0, disordered: 0 })
              blocks += places.blocks.length
            }
            expect(blocks).toBeGreaterThan(0)
          }),
        120_000
      )
    })
  })
})

/** The place before all dates, of a text that a message was first seen with after it had been edited. */
const editedFirst = -1

/** The dates with which messages were first seen, where they were edited before. */
const firstDates = new Map<string, number>()
