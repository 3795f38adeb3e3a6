import { describe, expect, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { SessionEnd } from "../../src/domain/messenger/Messenger.ts"
import { Caller } from "../../src/domain/people/Access.ts"
import {
  type PlatformOperation,
  type ScriptedAnswer,
  SimulatedPlatform
} from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { verify } from "../../src/layers/sql/journal/JournalChain.ts"
import { updateMessengerProfile } from "../../src/operations/accounts/update_messenger_profile.ts"
import { AccountLock } from "../../src/ports/accounts/AccountLock.ts"
import { Credentials } from "../../src/ports/credentials/Credentials.ts"
import * as Fixtures from "../support/fixtures.ts"
import { metric } from "../support/metrics.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const stage = Effect.gen(function*() {
  const platform = yield* SimulatedPlatform
  yield* platform.clearScripts
  const { admins, id } = yield* World.makeOrganization()
  const account = yield* World.makeLiveAccount(id, { first_name: "Ada", last_name: "Lovelace" })
  const profile = `/v1/accounts/${account.id}/messenger-profile`
  const known = yield* (yield* Credentials).authenticate(admins.owner.key, `${World.baseUrl}/v1`)
  return {
    account: { ...account, organizationId: id },
    caller: Caller.of({ ...known, via: "embedded", ip: null, requestId: null }),
    rename: World.patch(profile, admins.owner.key, { first_name: "Grace" }),
    profile: (patch: object) => World.patch(profile, admins.owner.key, patch),
    read: World.get(profile, admins.owner.key),
    name: Effect.map(World.get(`/v1/accounts/${account.id}`, admins.owner.key), ({ body }) => body.name as string),
    script: (answer: ScriptedAnswer, operation: PlatformOperation = "update_profile") =>
      platform.script({ answer, operation, userId: account.userId }),
    /** Resolves when the service has asked the platform to change the profile. */
    asked: Effect.repeat(platform.calls, {
      until: (calls) => calls.some((call) => call.user_id === account.userId && call.operation === "update_profile")
    }),
    journal: Effect.gen(function*() {
      expect(yield* Fixtures.within(id, verify(id))).toMatchObject({ ok: true })
      return (yield* World.journal(id)).map(({ closes, details, outcome }) => ({ outcome, details, closes }))
    })
  }
})

/** Time on the real clock, in which the database answers. */
const answered = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 25)))

const intent = { outcome: "pending", details: { fields: "first_name" }, closes: null }

const failed = (error: string, certain: boolean) => [
  intent,
  { outcome: "failed", details: { fields: "first_name", error, certain }, closes: 1 }
]

const done = [intent, { outcome: "done", details: { fields: "first_name" }, closes: 1 }]

const refusal = (answer: World.Answer) => [
  answer.status,
  answer.body.error?.type,
  answer.body.error?.code,
  answer.headers.get("retry-after")
]

const unavailable = (seconds: number) => [503, "api_error", "messenger_unavailable", String(seconds)]

describe("6 changes on the messenger that go wrong", () => {
  layer(World.world(postgres))((it) => {
    it.effect("a platform that is away changes nothing: 503 with Retry-After, intent and failure are journaled", () =>
      Effect.gen(function*() {
        const { journal, name, read, rename, script } = yield* stage
        yield* script({ _tag: "Unavailable" })
        expect(refusal(yield* rename)).toEqual(unavailable(30))
        expect(yield* journal).toEqual(failed("messenger_unavailable", false))
        expect((yield* read).body.first_name).toBe("Ada")
        expect(yield* name).toBe("Ada Lovelace")
      }))

    it.effect("a platform that asks to wait is answered with its own seconds", () =>
      Effect.gen(function*() {
        const { journal, rename, script } = yield* stage
        yield* script({ _tag: "Busy", seconds: 17 })
        expect(refusal(yield* rename)).toEqual(unavailable(17))
        expect(yield* journal).toEqual(failed("messenger_unavailable", false))
        expect((yield* rename).status).toBe(200)
      }))

    it.effect("an answer that was lost is not certain: the change shows at the next read, and is not made twice", () =>
      Effect.gen(function*() {
        const { journal, read, rename, script } = yield* stage
        yield* script({ _tag: "Lost" })
        expect(refusal(yield* rename)).toEqual(unavailable(30))
        const entries = yield* journal
        expect(entries).toEqual(failed("messenger_unavailable", false))
        expect((yield* read).body.first_name).toBe("Grace")
        expect((yield* rename).status).toBe(200)
        expect(yield* journal).toEqual(entries)
      }))

    it.effect("an answer that takes its time is waited for, and one that takes longer than 8 seconds is not", () =>
      Effect.gen(function*() {
        for (
          const [answer, wait, status, entries] of [
            [{ _tag: "Slow", milliseconds: 7999 }, 7999, 200, done],
            [{ _tag: "Slow", milliseconds: 8001 }, 8000, 503, failed("messenger_unavailable", false)],
            [{ _tag: "Silent" }, 8000, 503, failed("messenger_unavailable", false)]
          ] as const
        ) {
          const { asked, journal, name, rename, script } = yield* stage
          yield* script(answer)
          const asking = yield* Effect.forkChild(rename)
          yield* asked
          expect(yield* journal).toEqual([intent])
          yield* TestClock.adjust(wait)
          const answered = yield* Fiber.join(asking)
          expect(answered.status).toBe(status)
          if (status === 503) expect(refusal(answered)).toEqual(unavailable(30))
          expect(yield* name).toBe(status === 200 ? "Grace Lovelace" : "Ada Lovelace")
          expect(yield* journal).toEqual(entries)
        }
      }))

    it.effect("a change waits for one that is under way, and the names are those that the messenger made last", () =>
      Effect.gen(function*() {
        const { account, asked, journal, name, profile, rename, script } = yield* stage
        yield* script({ _tag: "Slow", milliseconds: 5000 })
        const first = yield* Effect.forkChild(rename)
        yield* asked
        const second = yield* Effect.forkChild(profile({ first_name: "Latest" }))
        yield* TestClock.adjust("4 seconds")
        expect(yield* journal).toEqual([intent])
        yield* TestClock.adjust("1 second")
        expect((yield* Fiber.join(first)).status).toBe(200)
        while (second.pollUnsafe() === undefined) {
          yield* TestClock.adjust("100 millis")
          yield* answered
        }
        expect((yield* Fiber.join(second)).status).toBe(200)
        expect(yield* name).toBe("Latest Lovelace")
        expect((yield* journal).map(({ closes, outcome }) => [outcome, closes])).toEqual([
          ["pending", null],
          ["done", 1],
          ["pending", null],
          ["done", 3]
        ])
        expect(
          yield* World.query(account.organizationId, (sql) => sql`select 1 from monitor where busy_until is not null`)
        )
          .toEqual([])
      }))

    it.effect("a change that has waited 8 seconds for somebody else on the account answers 503, and leaves no entry", () =>
      Effect.gen(function*() {
        const { account, journal, rename } = yield* stage
        const guard = yield* AccountLock
        const waits = yield* metric("console_guard_waits_total")
        yield* Effect.scoped(Effect.gen(function*() {
          yield* guard.acquire(account.organizationId, account.id)
          const waiting = yield* Effect.forkChild(rename)
          while (waiting.pollUnsafe() === undefined) {
            yield* TestClock.adjust("100 millis")
            yield* answered
          }
          expect(refusal(yield* Fiber.join(waiting))).toEqual(unavailable(1))
        }))
        expect(yield* journal).toEqual([])
        expect(yield* metric("console_guard_waits_total")).toBe(waits + 1)
      }))

    it.effect("however the service's session ended: 409 no_session, and nothing is journaled", () =>
      Effect.gen(function*() {
        for (const reason of SessionEnd.literals) {
          const { account, journal, read, rename } = yield* stage
          if (reason === "never") {
            yield* World.set(account.organizationId, "account", account.id, { session_ref: "x" })
          } else yield* (yield* SimulatedPlatform).revokeService(account.userId, reason)
          for (const ask of [read, rename]) {
            expect([reason, ...refusal(yield* ask)]).toEqual([
              reason,
              409,
              "invalid_request_error",
              "no_session",
              null
            ])
          }
          expect(yield* journal).toEqual([])
        }
      }))

    it.effect("a refusal for a reason of the platform's own keeps its text from answers and journal", () =>
      Effect.gen(function*() {
        const { journal, rename, script } = yield* stage
        yield* script({ _tag: "Refused", reason: "SOME_INTERNAL_REASON" })
        const answer = yield* rename
        expect(refusal(answer)).toEqual([409, "invalid_request_error", "messenger_refused", null])
        expect(yield* journal).toEqual(failed("messenger_refused", true))
        expect(JSON.stringify([answer.body, yield* journal])).not.toContain("SOME_INTERNAL_REASON")
      }))

    it.effect("a caller that gives up in the middle leaves the outcome in the journal", () =>
      Effect.gen(function*() {
        const { account, asked, caller, journal, script } = yield* stage
        yield* script({ _tag: "Silent" })
        const asking = yield* Effect.forkChild(
          updateMessengerProfile.call({ account_id: account.id, first_name: "Grace" }).pipe(
            Effect.provideService(Caller, caller)
          )
        )
        yield* asked
        yield* Fiber.interrupt(asking)
        expect(yield* journal).toEqual(failed("interrupted", false))
      }))

    it.effect("what goes wrong before the change is begun leaves no entry, and what goes wrong after it is no failure", () =>
      Effect.gen(function*() {
        const { journal, read, rename, script } = yield* stage
        for (const operation of ["open", "profile"] as const) {
          yield* script({ _tag: "Unavailable" }, operation)
          expect(refusal(yield* rename)).toEqual(unavailable(30))
          yield* script({ _tag: "Busy", seconds: 3 }, operation)
          expect(refusal(yield* read)).toEqual(unavailable(3))
        }
        expect(yield* journal).toEqual([])
        yield* script({ _tag: "Unavailable" }, "security")
        const answer = yield* rename
        expect(answer.status).toBe(200)
        expect(answer.body).toMatchObject({ first_name: "Grace", two_fa_present: null })
        expect(yield* journal).toEqual(done)
      }))
  })
})
