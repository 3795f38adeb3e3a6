import { describe, expect, layer } from "@effect/vitest"
import { Effect, Fiber, Latch } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/ports/accounts/Accounts.ts"
import { Db } from "../../src/ports/Db.ts"
import * as Archives from "../support/archive/archives.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

/** The watch holds the account, as each of its transactions does, while the other effect runs. */
const whileHeld = Effect.fnUntraced(function*<A, E, R>({ account }: Archives.Archive, work: Effect.Effect<A, E, R>) {
  const accounts = yield* Accounts
  const db = yield* Db
  const held = yield* Latch.make()
  const done = yield* Latch.make()
  const watch = yield* Effect.forkChild(db.transaction(
    account.organizationId,
    accounts.hold(account.organizationId, account.accountId).pipe(
      Effect.andThen(held.open),
      Effect.andThen(done.await)
    )
  ))
  yield* held.await
  const result = yield* Effect.ensuring(work, done.open)
  yield* Fiber.join(watch)
  return result
})

/** A transaction that waits for no lock. */
const atOnce = <A, E, R>(archive: Archives.Archive, work: Effect.Effect<A, E, R>) =>
  Archives.commit(
    archive,
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => Effect.andThen(Effect.orDie(sql`set local lock_timeout = '1s'`), work)
    )
  )

describe("12.2 archiving beside the watch", () => {
  layer(World.core(postgres))((it) => {
    it.effect("messages of an account are stored while the watch holds the account", () =>
      Effect.gen(function*() {
        const archive = yield* Archives.makeArchive()
        const writer = yield* Archives.write(archive)
        yield* atOnce(archive, writer.see(Archives.chat))
        yield* whileHeld(
          archive,
          atOnce(archive, writer.append(Archives.chatId, [Archives.seen(1, 60, "Stored at once")], "sweep"))
        )
        const accounts = yield* Accounts
        const { accountId, organizationId } = archive.account
        const facts = yield* Archives.commit(archive, accounts.known(organizationId, accountId))
        expect(facts?.archive_messages).toBe(1)
      }).pipe(Effect.scoped))

    it.effect("the watch holds an account while messages of it are stored, and another writer of its archive waits", () =>
      Effect.gen(function*() {
        const archive = yield* Archives.makeArchive()
        const { accountId, organizationId } = archive.account
        const accounts = yield* Accounts
        const holdArchive = accounts.holdArchive(organizationId, accountId)
        const held = yield* Latch.make()
        const done = yield* Latch.make()
        const step = yield* Effect.forkChild(
          Archives.commit(archive, Effect.andThen(Effect.andThen(holdArchive, held.open), done.await))
        )
        yield* held.await
        yield* Effect.ensuring(
          Effect.gen(function*() {
            expect((yield* atOnce(archive, accounts.hold(organizationId, accountId)))?.id).toBe(accountId)
            const waits = yield* Effect.exit(atOnce(archive, holdArchive))
            expect(waits._tag).toBe("Failure")
          }),
          done.open
        )
        yield* Fiber.join(step)
      }))
  })
})
