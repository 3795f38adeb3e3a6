import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import { at, day, hour, now } from "../../../support/stored.ts"
import * as World from "../../../support/world.ts"

/** The page of a live account with such facts. */
const stage = Effect.fnUntraced(function*(facts: Record<string, unknown> = {}) {
  yield* TestClock.setTime(now.getTime())
  const { admins, id } = yield* World.makeOrganization()
  const account = yield* World.makeLiveAccount(id, { first_name: "Ada" }, {
    facts: { connected_at: at(-2 * day), enforcement_active_at: at(-day), ...facts }
  })
  const cookie = yield* Pages.signIn(id, admins.owner.id)
  const own = `/console/accounts/${account.id}`
  return { id, account, own, visit: (query = "") => Pages.visit("GET", `${own}${query}`, { cookie }) }
})

describe("the page of an account offers what its state needs", () => {
  layer(World.world(postgres))((it) => {
    it.effect("reconnecting is offered where the service has lost its session, and nowhere else", () =>
      Effect.gen(function*() {
        const stopped = { stopped_at: at(-hour), monitoring_state: "stopped" }
        const cases = [
          ["session lost", { ...stopped, stop_reason: "session_lost" }, true],
          ["licence ended", { ...stopped, stop_reason: "licence", licence_stopped_at: at(-hour) }, false],
          ["deleted", { ...stopped, stop_reason: "account_deleted_by_platform" }, false],
          ["paused", { paused_at: at(-hour), monitoring_state: "stopped" }, false],
          ["protected", {}, false]
        ] as const
        for (const [name, facts, offered] of cases) {
          const { text } = yield* Effect.flatMap(stage(facts), ({ visit }) => visit())
          expect([name, text.includes("lost its session"), text.includes("/reconnect\"")]).toEqual([
            name,
            offered,
            offered
          ])
        }
      }))

    it.effect("reconnecting is offered too where the key of the service's session was used twice or is missing", () =>
      Effect.gen(function*() {
        for (const [error, offered] of [["key_duplicated", true], ["no_key", true], ["unavailable", false]] as const) {
          const { account, id, visit } = yield* stage({ monitoring_state: "unknown" })
          yield* World.query(id, (sql) =>
            sql`update monitor set last_poll_error = ${error}
              where organization_id = ${id} and account_id = ${account.id}`)
          expect([error, (yield* visit()).text.includes("/reconnect\"")]).toEqual([error, offered])
        }
      }))

    it.effect("a button is red where it ends protection or what does not come back, and not where it protects", () =>
      Effect.gen(function*() {
        const { account, id, visit } = yield* stage({ locked_at: at(-hour), lock_reason: "two_fa" })
        yield* World.addRows("session", id, [{ account_id: account.id, id: "3", seen_at: at(-hour) }])
        const { text } = yield* visit()
        const grave = (verb: string) =>
          new RegExp(`<details class="confirmed( grave)?">\\s*<summary>${verb} …</summary>`).exec(text)?.[1] !==
            undefined
        expect(["Sign out", "Sign out all others", "Pause protection"].map(grave)).toEqual([true, true, true])
        expect(["Turn the lock on", "Release the lock"].map(grave)).toEqual([false, false])
        expect(text).toMatch(/<a class="button danger" href="[^"]*\/offboard">/)
      }))

    it.effect("after an account is connected, its page lists what to secure next and how far that is", () =>
      Effect.gen(function*() {
        const { own, visit } = yield* stage()
        const next = (text: string) => /<h2 id="next">[^]*?<\/section>/.exec(text)?.[0]
        expect(next((yield* visit()).text)).toBe(undefined)
        expect(next((yield* visit("?done=account_reconnected")).text)).toBe(undefined)
        const steps = next((yield* visit("?done=account_connected")).text) ?? ""
        expect([...steps.matchAll(/<a href="([^"]*)">/g)].map(([, to]) => to)).toEqual([
          "#sessions",
          `${own}/security#two-fa`,
          `${own}/security#recovery`,
          `${own}/security#paired`,
          `${own}/security#passkey`,
          "#about"
        ])
        expect([...steps.matchAll(/class="tone [^"]*">([^<]*)/g)].map(([, state]) => state)).toEqual([
          "To check",
          "Open",
          "Open",
          "Open",
          "Open",
          "Open"
        ])
      }))
  })
})
