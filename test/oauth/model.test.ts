import { describe, expect, layer } from "@effect/vitest"
import { Clock, Effect, Schema } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { TestClock } from "effect/testing"
import { tokensPerMinute } from "../../src/domain/oauth/OAuth.ts"
import { forgetOAuth } from "../../src/jobs/oauth/forget_oauth.ts"
import { drawn } from "../support/drawn.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import {
  connections,
  type Granted,
  mcp,
  redeemWith,
  refreshWith,
  revokeWith,
  stage,
  tokens,
  v1,
  works
} from "./support.ts"

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** What the design says of one connection: what it has given out, and whether it still stands. */
interface Modelled {
  readonly id: string
  readonly granted: Granted
  readonly resource: string
  revoked: boolean
  readonly code: { readonly expires: number; redeemed: boolean; forgotten: boolean }
  readonly access: Array<{ readonly text: string; readonly expires: number }>
  /** When it got each of its pairs of tokens. */
  readonly issued: Array<number>
  readonly refresh: Array<{ readonly text: string; readonly expires: number; used: boolean; refusedUntil: number }>
}

const Place = Schema.Literals([0, 1, 2, 3])

/**
 * Steps, those that reach an instant of interest the most often; `late` is that instant itself, else the one before.
 */
const Step = Schema.Union([
  Schema.Struct({ do: Schema.Literal("approve"), mcp: Schema.Boolean }),
  Schema.Struct({ do: Schema.Literals(["redeem", "redeem "]), which: Place }),
  Schema.Struct({ do: Schema.Literals(["refresh", "refresh ", "replay", "race"]), which: Place }),
  Schema.Struct({
    do: Schema.Literals(["reach code", "reach access", "reach refresh"]),
    which: Place,
    late: Schema.Boolean
  }),
  Schema.Struct({ do: Schema.Literals(["revoke", "disconnect"]), which: Place }),
  Schema.Struct({ do: Schema.Literals(["toggle admin", "sweep", "day"]) })
])
type Step = typeof Step.Type

const first: Step = { do: "approve", mcp: false }

describe("OAuth against its model", () => {
  layer(World.world(postgres), { timeout: 240_000 })((it) => {
    it.effect.prop(
      "whatever is approved, redeemed, refreshed, raced, revoked, disabled, swept and waited for, the tokens that work are the model's",
      [Arbitrary.array(Arbitrary.schema(Step), { minLength: 8, maxLength: 24 })],
      ([steps]) =>
        Effect.gen(function*() {
          const { application, connect, organization, owner } = yield* stage()
          const known: Array<Modelled> = []
          let disabled = false

          const live = (one: Modelled) => !one.revoked && !disabled
          const pick = (which: number) => known[which % Math.max(1, known.length)]

          /** What a redemption must answer, and what follows from it. */
          const expectRedeem = (one: Modelled, now: number): boolean => {
            if (!live(one) || one.code.forgotten) return false
            if (one.code.redeemed) one.revoked = true
            return !one.code.redeemed && now < one.code.expires
          }
          const expectRefresh = (one: Modelled, at: number, now: number): "ok" | "limited" | "invalid" => {
            const token = one.refresh[at]!
            if (now < token.refusedUntil) return "limited"
            if (!live(one) || now >= token.expires) return "invalid"
            if (token.used) one.revoked = true
            if (!token.used && isLimited(one, now)) rememberLimit(one, token, now)
            return token.used ? "invalid" : isLimited(one, now) ? "limited" : "ok"
          }
          /** The process refuses the same request by itself for as long as it has said. */
          const rememberLimit = (one: Modelled, token: Modelled["refresh"][number], now: number) => {
            const counted = one.issued.toSorted((first, second) => second - first)[tokensPerMinute - 1]!
            token.refusedUntil = now + 1000 * Math.ceil((counted + minute - now) / 1000)
          }
          const isLimited = (one: Modelled, now: number): boolean =>
            one.issued.filter((at) => at > now - minute).length >= tokensPerMinute
          const keep = (one: Modelled, answer: World.Answer, now: number) => {
            const { access_token, refresh_token } = tokens(answer)
            one.issued.push(now)
            one.access.push({ text: access_token, expires: now + hour })
            one.refresh.push({ text: refresh_token, expires: now + 90 * day, used: false, refusedUntil: 0 })
          }
          const refresh = Effect.fnUntraced(function*(one: Modelled, at: number) {
            const now = yield* Clock.currentTimeMillis
            const expected = expectRefresh(one, at, now)
            const answer = yield* refreshWith(application, one.refresh[at]!.text)
            expect([answer.status, answer.body.error]).toEqual(
              expected === "ok"
                ? [200, undefined]
                : expected === "limited"
                ? [429, "rate_limited"]
                : [400, "invalid_grant"]
            )
            if (expected === "ok") {
              one.refresh[at]!.used = true
              keep(one, answer, now)
            }
          })
          const redeem = Effect.fnUntraced(function*(one: Modelled) {
            const now = yield* Clock.currentTimeMillis
            const expected = expectRedeem(one, now)
            const answer = yield* redeemWith(one.granted)
            expect([answer.status, answer.body.error]).toEqual(expected ? [200, undefined] : [400, "invalid_grant"])
            if (!expected) return
            one.code.redeemed = true
            keep(one, answer, now)
          })
          const advanceTo = Effect.fnUntraced(function*(instant: number, late: boolean) {
            const now = yield* Clock.currentTimeMillis
            const target = late ? instant : instant - 1
            if (target > now) yield* TestClock.adjust(target - now)
          })

          const run = Effect.fnUntraced(function*(step: Step) {
            const now = yield* Clock.currentTimeMillis
            if (step.do === "approve") {
              if (disabled || known.length >= 4) return
              const resource = step.mcp ? mcp : v1
              const granted = yield* connect({ params: { resource } })
              const code = { expires: now + minute, redeemed: false, forgotten: false }
              const ids = (yield* connections(organization.id)).map(({ id }) => id)
              const id = ids.find((id) => !known.some((one) => one.id === id))!
              known.push({ id, granted, resource, revoked: false, code, access: [], issued: [], refresh: [] })
              return
            }
            if (step.do === "toggle admin") {
              disabled = !disabled
              const disabled_at = disabled ? new Date(0) : null
              return yield* World.set(organization.id, "admin", owner.id, { disabled_at })
            }
            if (step.do === "sweep") {
              for (const { code, revoked } of known) code.forgotten ||= revoked || now >= code.expires + day
              return yield* forgetOAuth.run
            }
            if (!("which" in step)) return yield* TestClock.adjust(day)
            const one = pick(step.which)
            if (one === undefined) return
            const last = one.refresh.length - 1
            switch (step.do) {
              case "redeem":
              case "redeem ":
                return yield* redeem(one)
              case "refresh":
              case "refresh ":
                return last < 0 ? undefined : yield* refresh(one, last)
              case "replay":
                return last < 0 ? undefined : yield* refresh(one, step.which % (last + 1))
              case "race": {
                if (last < 0) return
                const token = one.refresh[last]!
                const refused = now < token.refusedUntil
                const stands = !refused && live(one) && now < token.expires
                const wins = stands && !token.used && !isLimited(one, now)
                if (stands && !token.used && !wins) rememberLimit(one, token, now)
                const answers = yield* Effect.all(
                  [refreshWith(application, token.text), refreshWith(application, token.text)],
                  { concurrency: "unbounded" }
                )
                const won = answers.filter(({ status }) => status === 200)
                expect(won.length).toBe(wins ? 1 : 0)
                if (stands && (wins || token.used)) one.revoked = true
                for (const answer of won) keep(one, answer, now)
                token.used ||= wins
                return
              }
              case "reach code":
                yield* advanceTo(one.code.expires, step.late)
                return yield* redeem(one)
              case "reach access":
                return one.access.length === 0
                  ? undefined
                  : yield* advanceTo(one.access.at(-1)!.expires, step.late)
              case "reach refresh":
                if (last < 0) return
                yield* advanceTo(one.refresh[last]!.expires, step.late)
                return yield* refresh(one, last)
              case "revoke": {
                const token = one.refresh[last]
                if (token === undefined || now >= token.expires) return
                expect((yield* revokeWith(application, token.text)).status).toBe(200)
                one.revoked = true
                return
              }
              case "disconnect": {
                if (disabled) return
                const answer = yield* World.send("DELETE", `/v1/ai-connections/${one.id}`, { key: owner.key })
                expect(answer.status).toBe(200)
                one.revoked = true
                return
              }
            }
          })

          for (const step of [first, ...steps]) {
            yield* run(step)
            const now = yield* Clock.currentTimeMillis
            for (const one of known) {
              for (const { expires, text } of one.access) {
                const expected = live(one) && now < expires
                const elsewhere = one.resource === v1 ? mcp : v1
                expect([step, yield* works(text, one.resource)]).toEqual([step, expected])
                expect([step, yield* works(text, elsewhere)]).toEqual([step, false])
              }
            }
          }
        }),
      drawn(75)
    )
  })
})
