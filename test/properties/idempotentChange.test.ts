import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { AccountAction, TargetAccount } from "../../src/domain/accounts/Account.ts"
import { Caller, superadmins } from "../../src/domain/people/Access.ts"
import * as Operation from "../../src/kernel/Operation.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { Credentials } from "../../src/ports/credentials/Credentials.ts"
import { IdempotencyKeys } from "../../src/ports/IdempotencyKeys.ts"
import { dying } from "../support/crashing.ts"
import { pglite } from "../support/postgres/database.ts"
import { established, start } from "../support/protection/watched.ts"
import { advance, forgetOthers, jump } from "../support/protection/watching.ts"
import * as World from "../support/world.ts"

const action = "recovery_email.requested"

const staged = Effect.gen(function*() {
  yield* TestClock.setTime(start)
  yield* forgetOthers
  const { admins, id } = yield* World.makeOrganization()
  const { id: account } = yield* World.makeLiveAccount(id, {}, { facts: established })
  yield* advance("1 minute")
  const { key } = admins.owner
  yield* World.put(`/v1/accounts/${account}/two-fa`, key, {})
  return {
    ask: World.send("POST", `/v1/accounts/${account}/recovery-email`, {
      key,
      body: { email: "new.address@example.org" },
      headers: { "idempotency-key": "one" }
    }),
    outcomes: Effect.map(
      World.journal(id),
      (events) =>
        events.filter((event) => event.action === action && event.closes !== null).map((event) => event.outcome)
    )
  }
})

const noted = {
  object: "account_action" as const,
  account_id: TargetAccount.make("019bc0e2-1280-7691-9060-dc1c794fba00"),
  action: "noted"
}
const note = { action: "account.noted", target: "account" } as const

/** A change that is only stored: at once, or where `held` by the time the account is held. */
const storing = (held: boolean) => {
  let toHold = held
  return Operation.guarded("note_account", {
    summary: "Note something about an account.",
    method: "POST",
    path: "/v1/accounts/:account_id/notes",
    toolset: "security",
    scope: "security:write",
    roles: superadmins,
    idempotent: false,
    params: { account_id: TargetAccount },
    success: AccountAction,
    sample: { request: { account_id: noted.account_id }, answer: noted },
    journal: note
  }, {
    check: () => {
      const found = toHold
        ? Operation.planned(null)
        : Operation.stored({ answer: noted, journal: note, details: {}, write: Effect.void })
      toHold = false
      return Effect.succeed(found)
    },
    intent: () => ({ details: {} }),
    act: () => Effect.void,
    settle: () => Effect.succeed({}),
    answer: () => Effect.succeed(noted)
  })
}

/** A process that dies does not release its keys. */
const unreleased = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    IdempotencyKeys,
    (keys) => Effect.provideService(effect, IdempotencyKeys, { ...keys, release: () => Effect.void })
  )

describe("1 Idempotency-Key", () => {
  layer(Worker.layer().pipe(Layer.provideMerge(World.world(pglite))))((it) => {
    it.effect("wherever a process dies, a change of the account whose outcome is written is not made again", () =>
      Effect.gen(function*() {
        const seen = new Set<string>()
        for (let calls = 0, lived = false; !lived; calls++) {
          const { ask, outcomes } = yield* staged
          lived = yield* dying(calls, unreleased(ask))
          const before = yield* outcomes
          yield* jump("75 seconds")
          yield* jump("75 seconds")
          const again = yield* ask
          const replayed = again.headers.get("idempotent-replayed") === "true"
          expect([calls, again.status, replayed]).toEqual([calls, 200, before.includes("done")])
          expect([calls, (yield* outcomes).filter((outcome) => outcome === "done")]).toEqual([calls, ["done"]])
          seen.add(`${before.join()} ${replayed}`)
        }
        expect([...seen].sort()).toEqual([" false", "done true"])
      }))

    it.effect.each([false, true])(
      "nor is one that is only stored, by the time the account is held: %s",
      (held) =>
        Effect.gen(function*() {
          for (let calls = 0, lived = false; !lived; calls++) {
            yield* TestClock.setTime(start)
            const { admins, id } = yield* World.makeOrganization()
            const { id: account_id } = yield* World.makeLiveAccount(id, {}, { facts: established })
            const known = yield* (yield* Credentials).authenticate(admins.superadmin.key, `${World.baseUrl}/v1`)
            const caller = Caller.of({
              ...known,
              via: "embedded",
              ip: null,
              requestId: null,
              extras: { idempotencyKey: "one" }
            })
            const ask = Effect.suspend(() => storing(held).call({ account_id })).pipe(
              Effect.provideService(Caller, caller)
            )
            const count = Effect.map(
              World.journal(id),
              (events) => events.filter(({ action }) => action === note.action).length
            )
            lived = yield* dying(calls, unreleased(ask))
            const before = yield* count
            yield* jump("75 seconds")
            yield* ask
            expect([calls, before, yield* count]).toEqual([calls, before, 1])
          }
        })
    )
  })
})
