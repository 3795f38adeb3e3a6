import { assert, describe, layer } from "@effect/vitest"
import { Clock, Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as fs from "node:fs"
import { type Authorization, SessionRef } from "../../src/domain/messenger/Messenger.ts"
import type { SessionFacts } from "../../src/domain/sessions/Session.ts"
import * as Loader from "../../src/layers/seed/SeedLoader.ts"
import { MessengerSession } from "../../src/ports/messenger/MessengerSession.ts"
import { drawn } from "../support/drawn.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const now = Date.parse("2026-03-01T12:00:00.000Z")

const demo: any = JSON.parse(fs.readFileSync(new URL("../../seeds/demo.json", import.meta.url), "utf8"))

const load = (json: unknown) => Effect.flatMap(Loader.decode(json), Loader.load)

/** What a row and a list both say of a session; the current one is active now to the messenger. */
const described = (session: SessionFacts | Authorization, frozen: boolean) => ({
  id: session.id,
  current: session.current,
  device_model: session.device_model,
  platform: session.platform,
  app_name: session.app_name,
  app_version: session.app_version,
  ip: session.ip,
  country: session.country,
  created_at: session.created_at,
  last_active_at: session.current && !frozen ? null : session.last_active_at
})

const byId = (one: { readonly id: string }, other: { readonly id: string }) => one.id < other.id ? -1 : 1

/**
 * Each account that the service is connected to, with its rows and the list that the messenger shows to each session.
 */
const accounts = Effect.fnUntraced(function*(organization: any) {
  const messenger = yield* MessengerSession
  const stored = yield* World.query<{ id: string; phone_number: string }>(
    organization.id,
    (sql) =>
      sql`select id, phone_number from account where organization_id = ${organization.id} and session_ref is not null`
  )
  return yield* Effect.forEach(stored, ({ id, phone_number }) =>
    Effect.gen(function*() {
      const seed = organization.accounts.find(({ phone }: { phone: string }) => phone === phone_number)
      const rows = yield* World.query<SessionFacts>(
        organization.id,
        (sql) =>
          sql`
            select id, service, current, baseline, approved_at, review_deadline, queued_at, device_model, platform,
              app_name, app_version, ip, country, last_active_at, created_at, seen_at
            from session where organization_id = ${organization.id} and account_id = ${id}`
      )
      const own = yield* World.query<{ slot: string; session_ref: string; seen_as: string | null }>(
        organization.id,
        (sql) => sql`select * from service_session where organization_id = ${organization.id} and account_id = ${id}`
      )
      const lists = yield* Effect.forEach(own, ({ seen_as, session_ref, slot }) =>
        Effect.scoped(Effect.gen(function*() {
          const live = yield* messenger.open(SessionRef.make(session_ref))
          return { slot, seen_as, list: yield* Effect.result(live.authorizations) }
        })))
      return { seed, rows, lists }
    }))
})

const compare = Effect.fnUntraced(function*(organization: any) {
  const found = yield* accounts(organization)
  for (const { lists, rows, seed } of found) {
    const { frozen = false, paired = false, unreachable = false } = seed.messenger
    assert.strictEqual(lists.length, paired ? 2 : 1, seed.phone)
    for (const { list, seen_as, slot } of lists) {
      if (list._tag === "Failure") {
        assert.deepStrictEqual([list.failure._tag, unreachable], ["PlatformUnavailable", true], seed.phone)
        continue
      }
      const known = rows.map((row) => ({ ...row, current: slot === "paired" ? row.id === seen_as : row.current }))
      // What the messenger lists and a seed may leave out: the session that asks.
      const listed = list.success.filter((one) => !one.current || known.some(({ id }) => id === one.id))
      assert.deepStrictEqual(
        listed.map((one) => described(one, frozen)).sort(byId),
        known.map((row) => described(row, frozen)).sort(byId),
        seed.phone
      )
    }
  }
  return found.length
})

const Text = Schema.Literals(["Pixel 9", "<b>iPad</b>", "Server", "Linux", "é'\"; --"])
const Moment = Schema.Literals(["-1m", "-3h", "-2d", "-400d"])
const optional = Schema.optionalKey

const Session = Schema.Struct({
  service: optional(Schema.Boolean),
  current: optional(Schema.Boolean),
  device_model: optional(Text),
  platform: optional(Text),
  app_name: optional(Text),
  app_version: optional(Text),
  ip: optional(Text),
  country: optional(Text),
  created_at: optional(Moment),
  last_active_at: optional(Moment)
})

const Account = Schema.Struct({
  sessions: Schema.Array(Session).check(Schema.isMaxLength(5)),
  messenger: Schema.Struct({
    connected_at: optional(Moment),
    frozen: optional(Schema.Boolean),
    unreachable: optional(Schema.Boolean)
  })
})

let organizations = 0

/** An organization of these accounts: one current session in each at most, and a paired one where there can be one. */
const organizationOf = (accounts: ReadonlyArray<typeof Account.Type>) => ({
  id: `seeded-${++organizations}`,
  name: "Seeded",
  admins: [{ email: "olivia@seeded.example", role: "owner" }],
  accounts: accounts.map(({ messenger, sessions }, place) => {
    const current = sessions.findIndex((session) => session.current === true)
    const kept = sessions.map((session, index) => index === current ? session : { ...session, current: false })
    const paired = current !== -1 && kept.some(({ current, service }) => service === true && current !== true)
    return {
      phone: `+3170${String(organizations).padStart(4, "0")}${place}`,
      first_name: "Ann",
      sessions: kept,
      messenger: { ...messenger, ...(paired ? { paired } : {}) }
    }
  })
})

describe("2.4 the sessions of a seed and what the messenger shows", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("agree in the demo organization, now and two days later", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(now)
          yield* load(demo)
          assert.strictEqual(yield* compare(demo.organizations[0]), 11)
          yield* TestClock.adjust("48 hours")
          yield* compare(demo.organizations[0])
          assert.isAbove(yield* Clock.currentTimeMillis, now)
        }))

      it.effect.prop(
        "agree in every organization that a seed can describe",
        { accounts: Schema.Array(Account).check(Schema.isMinLength(1), Schema.isMaxLength(3)) },
        ({ accounts }) =>
          Effect.gen(function*() {
            yield* TestClock.setTime(now)
            const organization = organizationOf(accounts)
            yield* load({ organizations: [organization] })
            assert.strictEqual(yield* compare(organization), accounts.length)
          }),
        drawn(8)
      )
    })
  })
})
