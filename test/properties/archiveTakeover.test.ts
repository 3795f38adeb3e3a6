import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { listMessages } from "../../src/archive/Reader.ts"
import { Epochs } from "../../src/ports/archive/Epochs.ts"
import { Db } from "../../src/ports/Db.ts"
import * as Archives from "../support/archive/archives.ts"
import { replicas } from "../support/replicas.ts"
import * as World from "../support/world.ts"

const { chat, chatId, newest, seen } = Archives

/** Takeovers while the writer before goes on. */
const rounds = 12
const perRound = 12

describe("a writer that is taken over", () => {
  it.live(
    "commits nothing after the takeover, and loses nothing before it, however its transactions lie",
    () =>
      Effect.gen(function*() {
        const [one, other] = yield* replicas
        const archive = yield* one(Effect.provide(Archives.makeArchive(), TestClock.layer()))
        const { accountId, organizationId } = archive.account
        const written: Array<bigint> = []
        let last = 0
        for (let round = 0; round < rounds; round++) {
          const [before, after] = round % 2 === 0 ? [one, other] : [other, one]
          const writer = yield* before(Archives.write(archive))
          yield* before(Archives.commit(archive, writer.see(chat)))
          const first = last + 1
          last += perRound
          const write = Effect.fnUntraced(function*(id: number) {
            const appended = Effect.flatMap(Db, (db) =>
              db.transaction(
                organizationId,
                Effect.tap(
                  writer.append(chatId, [seen(id, 9000 - id, `text ${id}`)], "live"),
                  () => Effect.sleep(id % 4)
                )
              ))
            const added = yield* before(appended)
            written.push(...added)
          })
          const writing = yield* Effect.forkChild(Effect.exit(Effect.forEach(
            Array.from({ length: perRound }, (_, n) => first + n),
            write
          )))
          yield* Effect.sleep(10 + (round * 7) % 40)
          const taken = yield* after(Archives.write(archive))
          const stored = yield* after(idsOf(organizationId, accountId))
          yield* Fiber.join(writing)
          // What the one before had not committed by the takeover it never commits.
          expect(yield* after(idsOf(organizationId, accountId))).toEqual(stored)
          const refused = yield* Effect.flip(
            before(Archives.commit(archive, writer.append(chatId, [seen(1, 1, "")], "live")))
          )
          expect(refused._tag).toBe("WriterReplaced")
          yield* after(taken.close("all"))
        }
        const open = yield* one(Archives.open(archive))
        const { messages, unreadable } = yield* one(listMessages(open, { ...newest, limit: 1000 }))
        expect(unreadable).toBe(0)
        expect(messages.map(({ id }) => BigInt(id)).toReversed()).toEqual(written)
        expect(written.length).toBeGreaterThan(0)
        expect(written.length).toBeLessThan(rounds * perRound)
      }).pipe(Effect.scoped),
    60_000
  )

  it.live(
    "keeps a takeover waiting from its first look at the epoch on, before it has written anything",
    () =>
      Effect.gen(function*() {
        const [one, other] = yield* replicas
        const archive = yield* one(Effect.provide(Archives.makeArchive(), TestClock.layer()))
        yield* one(Archives.write(archive))
        const [epoch] = yield* one(
          World.query<{ epoch: string }>(archive.account.organizationId, (sql) =>
            sql`select epoch_id::text as epoch from archive_epoch where account_id = ${archive.account.accountId}`)
        )
        const order: Array<string> = []
        const fenced = yield* Deferred.make<void>()
        const fence = Effect.flatMap(Epochs, (epochs) =>
          epochs.fence(archive.account, BigInt(epoch?.epoch ?? 0)))
        const writing = yield* Effect.forkChild(one(Archives.commit(
          archive,
          Effect.gen(function*() {
            expect(yield* fence).toBe(true)
            yield* Deferred.succeed(fenced, undefined)
            yield* Effect.sleep(300)
            order.push("written")
          })
        )))
        yield* Deferred.await(fenced)
        yield* other(Archives.write(archive))
        order.push("taken over")
        yield* Fiber.join(writing)
        expect(order).toEqual(["written", "taken over"])
        expect(yield* one(Archives.commit(archive, fence))).toBe(false)
      }).pipe(Effect.scoped),
    60_000
  )
})

/** The messages that the account's chat counts, and its open epochs. */
const idsOf = (organizationId: string, accountId: string) =>
  World.query<{ messages: string; open: string }>(
    organizationId,
    (sql) =>
      sql`select messages::text as messages, (select count(*) from archive_epoch
        where account_id = ${accountId} and closed_at is null)::text as open
      from archive_chat where account_id = ${accountId}`
  )
