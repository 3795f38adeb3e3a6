import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as Worker from "../../src/layers/Worker.ts"
import { dying } from "../support/crashing.ts"
import { forSpecification, postgres } from "../support/postgres/database.ts"
import { established, start } from "../support/protection/watched.ts"
import { advance, forgetOthers, jump } from "../support/protection/watching.ts"
import * as HeldSecrets from "../support/security/heldSecrets.ts"
import * as World from "../support/world.ts"

const staged = Effect.fnUntraced(function*(managed = true, facts: Record<string, unknown> = established) {
  const platform = yield* SimulatedPlatform
  yield* platform.clearScripts
  yield* TestClock.setTime(start)
  yield* forgetOthers
  const { admins, id } = yield* World.makeOrganization()
  const { id: account, userId } = yield* World.makeLiveAccount(id, {
    security: { login_email: "ada@example.org" }
  }, { facts })
  yield* advance("1 minute")
  const { key } = admins.owner
  const path = `/v1/accounts/${account}`
  if (managed) yield* World.put(`${path}/two-fa`, key, {})
  const send = (method: string, what: string, body?: object) =>
    World.send(method, `${path}/${what}`, { key, ...(body === undefined ? {} : { body }) })
  return {
    account,
    id,
    platform,
    userId,
    send,
    set: (kind: string, email = "new.address@example.org") => send("POST", `${kind}-email`, { email }),
    confirm: (kind: string, code: string) => send("POST", `${kind}-email/confirm`, { code }),
    code: (kind: "recovery" | "login") =>
      Effect.map(platform.emailCode(userId, kind), (sent) => sent === null ? "none" : Redacted.value(sent)),
    wrong: (kind: "recovery" | "login") =>
      Effect.map(
        platform.emailCode(userId, kind),
        (sent) => sent !== null && Redacted.value(sent) === "000000" ? "111111" : "000000"
      ),
    profile: Effect.map(World.get(`${path}/messenger-profile`, key), ({ body }) => body),
    slots: HeldSecrets.slots(id, account),
    events: Effect.map(
      World.journal(id),
      (all) =>
        all.map(({ action, outcome }) => `${action} ${outcome}`).filter((event) =>
          !/^(?:console|two_fa\.set)/.test(event)
        )
    )
  }
})

const summaryOf = ({ body, status }: World.Answer) => [status, body.action ?? body.state ?? body.error.code]

type Stage = Effect.Success<ReturnType<typeof staged>>

interface Crash {
  readonly what: string
  /** What is there before; answers what the request says. */
  readonly before: (stage: Stage) => ReturnType<typeof requested>
  readonly act: (stage: Stage, request: string) => ReturnType<Stage["confirm"]>
  /** What the request may answer when it is made again. */
  readonly again: ReadonlyArray<string>
  readonly left: Readonly<Record<string, unknown>>
}

const requested = Effect.fnUntraced(function*(stage: Stage, kind: "recovery" | "login") {
  yield* stage.set(kind)
  yield* jump("1 second")
  return yield* stage.code(kind)
})

/** The account is old enough for a passkey. */
const grown = Effect.as(jump("25 hours"), "")

const masked = "n*****s@example.org"

const crashes: ReadonlyArray<Crash> = [
  {
    what: "a request for an address",
    before: () => Effect.succeed(""),
    act: ({ set }) => set("recovery"),
    again: ["200 code_sent"],
    left: { recovery_email_pattern: null }
  },
  {
    what: "the code of a recovery address",
    before: (stage) => requested(stage, "recovery"),
    act: ({ confirm }, code) => confirm("recovery", code),
    again: ["200 recovery_email_confirmed", "409 no_pending_change"],
    left: { recovery_email_pattern: masked }
  },
  {
    what: "the code of a login address",
    before: (stage) => requested(stage, "login"),
    act: ({ confirm }, code) => confirm("login", code),
    again: ["200 login_email_confirmed", "409 no_pending_change"],
    left: { login_email_pattern: masked }
  },
  {
    what: "the end of a recovery address",
    before: (stage) =>
      Effect.flatMap(requested(stage, "recovery"), (code) => Effect.as(stage.confirm("recovery", code), "")),
    act: ({ send }) => send("DELETE", "recovery-email"),
    again: ["200 recovery_email_removed"],
    left: { recovery_email_pattern: null }
  },
  {
    what: "a passkey",
    before: () => grown,
    act: ({ send }) => send("PUT", "passkey"),
    again: ["200 passkey_added"],
    left: { passkey_present: true, passkey_managed: true }
  },
  {
    what: "the end of a passkey",
    before: ({ send }) => Effect.andThen(grown, Effect.as(send("PUT", "passkey"), "")),
    act: ({ send }) => send("DELETE", "passkey"),
    again: ["200 passkey_removed"],
    left: { passkey_present: false }
  }
]

describe("4.16 addresses and passkeys", () => {
  forSpecification((_, database) => {
    layer(Worker.layer().pipe(Layer.provideMerge(World.world(database))))((it) => {
      it.effect("a recovery address is asked for, confirmed by its code, and removed; none of it is a signal", () =>
        Effect.gen(function*() {
          const { code, confirm, events, profile, send, set } = yield* staged()
          const asked = yield* set("recovery")
          expect(asked.body).toEqual({
            object: "email_change",
            account_id: expect.any(String),
            kind: "recovery",
            email_pattern: "n*****s@example.org",
            code_length: 6,
            state: "code_sent",
            attempts_left: 5,
            expires_at: new Date(start + 16 * 60_000).toISOString()
          })
          yield* advance("11 minutes")
          expect(summaryOf(yield* confirm("recovery", yield* code("recovery")))).toEqual([
            200,
            "recovery_email_confirmed"
          ])
          expect((yield* profile).recovery_email_pattern).toBe("n*****s@example.org")
          expect(summaryOf(yield* confirm("recovery", "123456"))).toEqual([409, "no_pending_change"])
          yield* advance("11 minutes")
          expect(summaryOf(yield* send("DELETE", "recovery-email"))).toEqual([200, "recovery_email_removed"])
          expect(summaryOf(yield* send("DELETE", "recovery-email"))).toEqual([200, "recovery_email_removed"])
          yield* advance("11 minutes")
          expect(yield* events).toEqual([
            "recovery_email.requested pending",
            "recovery_email.requested done",
            "recovery_email.confirmed pending",
            "recovery_email.confirmed done",
            "recovery_email.removed pending",
            "recovery_email.removed done"
          ])
        }))

      it.effect("five wrong codes end a change, 15 minutes do, and a new one replaces it", () =>
        Effect.gen(function*() {
          const { code, confirm, set, wrong } = yield* staged()
          yield* set("recovery")
          for (let count = 0; count < 5; count++) {
            expect(summaryOf(yield* confirm("recovery", yield* wrong("recovery")))).toEqual([400, "code_invalid"])
          }
          expect(summaryOf(yield* confirm("recovery", yield* code("recovery")))).toEqual([409, "no_pending_change"])
          yield* set("recovery", "another@example.org")
          yield* TestClock.adjust("15 minutes")
          expect(summaryOf(yield* confirm("recovery", yield* code("recovery")))).toEqual([409, "no_pending_change"])
          yield* set("recovery", "first@example.org")
          const first = yield* code("recovery")
          yield* set("recovery", "second@example.org")
          const second = yield* code("recovery")
          if (first !== second) expect(summaryOf(yield* confirm("recovery", first))).toEqual([400, "code_invalid"])
          expect(summaryOf(yield* confirm("recovery", second))).toEqual([200, "recovery_email_confirmed"])
          yield* set("recovery")
          const refused = yield* set("recovery")
          expect([World.refusal(refused), refused.headers.get("retry-after")]).toEqual([
            [429, "too_many_attempts"],
            "2700"
          ])
        }))

      it.effect("an address that nobody confirms is taken back on the messenger, and one of the holder's stays", () =>
        Effect.gen(function*() {
          const { code, events, platform, profile, set, userId } = yield* staged()
          yield* set("recovery")
          yield* advance("20 minutes")
          expect([yield* code("recovery"), (yield* profile).recovery_email_pattern]).toEqual(["none", null])
          expect((yield* events).slice(-2)).toEqual([
            "recovery_email.cancelled pending",
            "recovery_email.cancelled done"
          ])
          yield* set("recovery")
          yield* platform.changeSecurity(userId, { recovery_pending: "holder@example.org" })
          const before = (yield* events).length
          yield* advance("20 minutes")
          expect((yield* events).slice(before)).toEqual(["outside_change.detected done"])
        }))

      it.effect("a login address is replaced where there is one, and the messenger's refusals are reported", () =>
        Effect.gen(function*() {
          const { code, confirm, platform, profile, set, userId } = yield* staged(false)
          expect(summaryOf(yield* set("recovery"))).toEqual([409, "two_fa_not_managed"])
          expect(World.refusal(yield* set("login", "no address"))).toEqual([400, "parameter_invalid", "email"])
          expect(World.refusal(yield* set("login", "nobody@nowhere"))).toEqual([400, "email_refused", "email"])
          expect(summaryOf(yield* set("login"))).toEqual([200, "code_sent"])
          expect(World.refusal(yield* confirm("login", "12"))).toEqual([400, "parameter_invalid", "code"])
          expect(summaryOf(yield* confirm("login", yield* code("login")))).toEqual([200, "login_email_confirmed"])
          expect((yield* profile).login_email_pattern).toBe("n*****s@example.org")
          yield* platform.changeSecurity(userId, { login_email: null })
          expect(World.refusal(yield* set("login"))).toEqual([400, "email_refused", "email"])
        }))

      it.effect("a passkey is added once the messenger lets the service, and removed with its key", () =>
        Effect.gen(function*() {
          const { account, events, platform, profile, send, slots, userId } = yield* staged(false, {})
          const { body } = yield* send("PUT", "passkey")
          expect([body.error.code, body.error.message]).toEqual([
            "passkey_not_eligible",
            expect.stringContaining(new Date(start + 24 * 3_600_000).toISOString().slice(0, 13))
          ])
          expect(summaryOf(yield* send("DELETE", "passkey"))).toEqual([200, "passkey_removed"])
          yield* jump("25 hours")
          expect(summaryOf(yield* send("PUT", "passkey"))).toEqual([200, "passkey_added"])
          expect(summaryOf(yield* send("PUT", "passkey"))).toEqual([200, "passkey_added"])
          expect(yield* slots).toEqual(["passkey held"])
          expect(yield* profile).toMatchObject({ passkey_present: true, passkey_managed: true })
          yield* platform.script({ userId, operation: "remove_passkey", answer: { _tag: "Refused", reason: "REASON" } })
          expect(summaryOf(yield* send("DELETE", "passkey"))).toEqual([409, "messenger_refused"])
          expect(yield* slots).toEqual(["passkey held"])
          expect(summaryOf(yield* send("DELETE", "passkey"))).toEqual([200, "passkey_removed"])
          expect(yield* slots).toEqual([])
          yield* platform.changeSecurity(userId, { passkey_ids: ["holders"] })
          expect(summaryOf(yield* send("DELETE", "passkey"))).toEqual([409, "passkey_not_managed"])
          yield* jump("11 minutes")
          expect((yield* events).filter((event) => !event.startsWith("monitoring."))).toEqual([
            "passkey.added pending",
            "passkey.added done",
            "passkey.removed pending",
            "passkey.removed failed",
            "passkey.removed pending",
            "passkey.removed done",
            "passkey.removed refused",
            "outside_change.detected done"
          ])
          expect(account).toBeDefined()
        }))

      it.effect("a passkey that the holder has removed on the messenger is replaced, and the old one is kept for a while", () =>
        Effect.gen(function*() {
          const { platform, profile, send, slots, userId } = yield* staged(false, {})
          yield* jump("25 hours")
          expect(summaryOf(yield* send("PUT", "passkey"))).toEqual([200, "passkey_added"])
          yield* platform.changeSecurity(userId, { passkey_ids: [] })
          expect(summaryOf(yield* send("PUT", "passkey"))).toEqual([200, "passkey_added"])
          expect(yield* slots).toEqual(["passkey held", "passkey retired"])
          expect(yield* profile).toMatchObject({ passkey_present: true, passkey_managed: true })
        }))
    })
  })

  layer(Worker.layer().pipe(Layer.provideMerge(World.world(postgres))))((it) => {
    for (const { act, again, before, left, what } of crashes) {
      it.effect(`wherever a process dies, ${what} has happened or is made again, and no signal is raised`, () =>
        Effect.gen(function*() {
          for (let calls = 0, lived = false; !lived; calls++) {
            const stage = yield* staged()
            const request = yield* before(stage)
            lived = yield* dying(calls, act(stage, request))
            yield* jump("75 seconds")
            yield* jump("75 seconds")
            const [status, said] = summaryOf(yield* act(stage, request))
            expect([calls, again.includes(`${status} ${said}`)]).toEqual([calls, true])
            expect([calls, yield* stage.profile]).toMatchObject([calls, left])
            yield* jump("11 minutes")
            const seen = (yield* stage.events).filter((event) => /outside|takeover|lost/.test(event))
            expect([calls, seen]).toEqual([calls, []])
            expect((yield* stage.slots).filter((slot) => slot === "passkey held")).toHaveLength(
              left.passkey_present === true ? 1 : 0
            )
          }
        }))
    }
  })
})
