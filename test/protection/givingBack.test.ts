import { assert, describe, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { AccountId } from "../../src/domain/accounts/Account.ts"
import { OrganizationId } from "../../src/domain/people/Access.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { AccountLock } from "../../src/ports/accounts/AccountLock.ts"
import { postgres } from "../support/postgres/database.ts"
import { superuser, superuserUrlHere } from "../support/postgres/superuser.ts"
import { arrange } from "../support/protection/watched.ts"
import * as World from "../support/world.ts"

const holder = (id: string, account: string) =>
  Effect.map(
    World.query<{ busy_by: string | null }>(
      id,
      (sql) => sql`select busy_by from monitor where account_id = ${account}`
    ),
    ([row]) => row?.busy_by ?? null
  )

describe("12.4 giving an account back", () => {
  layer(Worker.layer().pipe(Layer.provideMerge(World.world(postgres))))((it) => {
    it.effect("keeps an answer waiting for a second at most, and is done as soon as the database answers", () =>
      Effect.gen(function*() {
        const { account, id } = yield* arrange()
        const guard = yield* AccountLock
        const scope = yield* Scope.make()
        yield* Scope.provide(guard.acquire(OrganizationId.make(id), AccountId.make(account)), scope)
        assert.isNotNull(yield* holder(id, account))

        const other = yield* superuser(yield* superuserUrlHere)
        yield* Effect.promise(() =>
          other.query(`begin; select from monitor where account_id = '${account}' for update`)
        )
        const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
        yield* TestClock.withLive(Effect.sleep("50 millis"))
        assert.isUndefined(closing.pollUnsafe())
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(closing).pipe(Effect.timeout("5 seconds"), TestClock.withLive)

        yield* Effect.promise(() => other.query("commit"))
        yield* holder(id, account).pipe(
          Effect.delay("5 millis"),
          Effect.repeat({ until: (by) => by === null, times: 500 }),
          TestClock.withLive
        )
        assert.isNull(yield* holder(id, account))
      }))
  })
})
