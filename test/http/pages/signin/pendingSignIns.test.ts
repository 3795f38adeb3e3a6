import { describe, expect, layer } from "@effect/vitest"
import { Clock, Effect, Option, Redacted } from "effect"
import { pendingSignInsKept, strangersSignInsKept } from "../../../../src/domain/Limits.ts"
import { OrganizationId } from "../../../../src/domain/people/Access.ts"
import type { CookieSite } from "../../../../src/ports/signin/ConsoleSessions.ts"
import { SignIns } from "../../../../src/ports/signin/SignIns.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as Factors from "../../../support/signin/factors.ts"
import * as World from "../../../support/world.ts"
import { browserOf, stage, times } from "./throttling.ts"

const site: CookieSite = { baseUrl: World.baseUrl, organizationId: null }

/** An admin with a second factor, whose password someone else has too. */
const shared = Effect.fnUntraced(function*() {
  const { admins, email, id } = yield* stage()
  const known = yield* browserOf(id, email)
  yield* Factors.giveTotp(id, admins.owner.id)
  const admin = { organizationId: OrganizationId.make(id), adminId: admins.owner.id }
  const signIns = yield* SignIns
  const begin = Effect.fnUntraced(function*(ip: string | null, cookies?: string) {
    const since = new Date(yield* Clock.currentTimeMillis)
    const begun = yield* signIns.begin(admin, { cookies, site, ip, requestId: null, userAgent: undefined }, { since })
    expect(begun.state).toBe("pending")
    return begun.cookies[0]?.split(";", 1)[0]
  })
  const waits = (cookie: string | undefined) => Effect.map(signIns.current(cookie, site), Option.isSome)
  const rows = Effect.map(
    World.query(id, (sql) => sql`select 1 from pending_sign_in where organization_id = ${id}`),
    ({ length }) => length
  )
  return { begin, known: `console-browser=${Redacted.value(known.from.browser)}`, rows, waits }
})

describe("an attacker who has an admin's password, and not the second factor,", () => {
  layer(World.world(postgres))((it) => {
    it.effect("displaces sign-ins of their own address alone", () =>
      Effect.gen(function*() {
        const { begin, waits } = yield* shared()
        const own = yield* begin("198.51.100.7")
        const early = yield* begin("192.0.2.1")
        yield* Effect.replicateEffect(begin("192.0.2.1"), pendingSignInsKept)
        yield* Effect.replicateEffect(begin("2001:db8:1:2::9"), 20)
        expect([yield* waits(own), yield* waits(early)]).toEqual([true, false])
      }))

    it.effect("displaces those of their own networks, however many addresses they have", () =>
      Effect.gen(function*() {
        const { begin, rows, waits } = yield* shared()
        const own = yield* begin("2001:db8:ffff:1::1")
        const other = yield* begin("2a00:1:1:1::1")
        for (const [at] of times(strangersSignInsKept + 5).entries()) yield* begin(`2001:db8:1:${at.toString(16)}::1`)
        for (const [at] of times(strangersSignInsKept + 5).entries()) yield* begin(`2001:db9:${at.toString(16)}:1::1`)
        expect([yield* waits(own), yield* waits(other)]).toEqual([true, true])
        expect(yield* rows).toBe(strangersSignInsKept)
        const late = yield* begin("198.51.100.7")
        expect(yield* waits(late)).toBe(true)
      }))

    it.effect("displaces none of a browser that the admin has signed in with, even at its address", () =>
      Effect.gen(function*() {
        const { begin, known, rows, waits } = yield* shared()
        const own = yield* begin("192.0.2.1", known)
        yield* Effect.replicateEffect(begin("192.0.2.1"), 20)
        for (const [at] of times(strangersSignInsKept + 5).entries()) {
          yield* begin(`203.0.${at}.1`, "console-browser=guessed")
        }
        expect(yield* waits(own)).toBe(true)
        expect(yield* rows).toBe(strangersSignInsKept + 1)
        yield* Effect.replicateEffect(begin("192.0.2.1", known), pendingSignInsKept)
        expect([yield* waits(own), yield* rows]).toEqual([false, strangersSignInsKept + pendingSignInsKept])
      }))
  })
})
