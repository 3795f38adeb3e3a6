import { describe, expect, layer } from "@effect/vitest"
import { Clock, Duration, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Admins from "../../../../src/operator/people/Admins.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"
import { again, anywhere, attempt, browserOf, fail, failures, nobody, stage, times } from "./throttling.ts"

describe("the console password's throttle", () => {
  layer(World.world(postgres))((it) => {
    it.effect("lets five failures pass, then doubles the wait from 2 seconds to 15 minutes, and never for good", () =>
      Effect.gen(function*() {
        const { email, id } = yield* stage()
        const here = anywhere()
        yield* fail(6, id, email, here)
        const waits = [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]
        for (const wait of waits) {
          expect(yield* attempt(id, email, Pages.password, here)).toBe(wait)
          yield* TestClock.adjust(Duration.millis(wait * 1000 - 1))
          expect(yield* attempt(id, email, Pages.password, here)).toBe(1)
          yield* TestClock.adjust("1 millis")
          expect(yield* attempt(id, email, "wrong", here)).toBe("wrong")
        }
        yield* TestClock.adjust("15 minutes")
        expect(yield* attempt(id, email, Pages.password, here)).toBe("right")
      }))

    it.effect("starts anew after the right password, and after a day without a failure", () =>
      Effect.gen(function*() {
        const { email, id } = yield* stage()
        for (const round of [1, 2, 3]) {
          const here = anywhere()
          yield* fail(5, id, email, here)
          expect([round, yield* attempt(id, email, Pages.password, here)]).toEqual([round, "right"])
          yield* fail(5, id, email, here)
        }
        const here = anywhere()
        yield* fail(5, id, email, here)
        yield* TestClock.adjust("1 day")
        yield* fail(6, id, email, here)
        expect(yield* attempt(id, email, "wrong", here)).toBe(2)
      }))

    it.effect("keeps nobody out by wrong guesses from elsewhere, neither at sign-in nor where the password is asked again", () =>
      Effect.gen(function*() {
        const { admins, email, id } = yield* stage()
        const elsewhere = anywhere()
        yield* fail(6, id, email, elsewhere)
        expect(yield* attempt(id, email, "wrong", elsewhere)).toBe(2)
        expect(yield* attempt(id, email, Pages.password)).toBe("right")
        const made = yield* World.send("POST", "/v1/api-keys", {
          key: admins.owner.key,
          body: { label: "A key", scopes: ["accounts:write"], current_password: Pages.password }
        })
        expect(made.status).toBe(200)
      }))

    it.effect("counts for the address, for all admins together, and a success takes nothing of it back", () =>
      Effect.gen(function*() {
        const { email, id } = yield* stage()
        const here = anywhere()
        const answers: Array<unknown> = []
        for (let guess = 0; guess < 40; guess++) {
          if (guess % 5 === 4) answers.push(yield* attempt(id, email, Pages.password, here))
          answers.push(yield* attempt(id, nobody(), "wrong", here))
        }
        expect(answers.filter((answer) => answer === "wrong").length).toBe(21)
        expect(answers.filter((answer) => answer === 2).length).toBeGreaterThan(15)
        expect(yield* attempt(id, email, Pages.password)).toBe("right")
      }))

    it.effect("counts an IPv6 address with the others of its /64", () =>
      Effect.gen(function*() {
        const { email, id } = yield* stage()
        const at = (end: number) => ({ ...anywhere(), ip: `2001:db8:1:2::${end}` })
        for (let end = 1; end <= 6; end++) yield* fail(1, id, email, at(end))
        expect(yield* attempt(id, email, Pages.password, at(7))).toBe(2)
        expect(yield* attempt(id, email, Pages.password, { ...anywhere(), ip: "2001:db8:1:3::1" })).toBe("right")
      }))

    it.effect("lets a hundred people sign in from one address at once, and one after another", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        yield* Effect.forEach(Object.values(admins), (admin) => Pages.givePassword(id, admin.id))
        const emails = yield* Effect.forEach(Object.values(admins), (admin) => Pages.emailOf(id, admin.id))
        const here = anywhere()
        const everybody = times(10).flatMap(() => emails)
        const together = yield* Effect.forEach(everybody, (email) => attempt(id, email, Pages.password, here), {
          concurrency: "unbounded"
        })
        const inTurn = yield* Effect.forEach(everybody, (email) => attempt(id, email, Pages.password, here))
        expect(new Set([...together, ...inTurn])).toEqual(new Set(["right"]))
      }))

    it.effect("lets strangers guess 100 times from wherever, then doubles the wait for all of them, and knows the admin's own browser and address", () =>
      Effect.gen(function*() {
        const { email, id } = yield* stage()
        const known = yield* browserOf(id, email)
        const home = { ...anywhere(), ip: "198.51.100.7" }
        yield* World.query(
          id,
          (sql) => sql`update known_browser set address = '198.51.100.7' where organization_id = ${id} returning digest`
        )
        for (let address = 0; address < 20; address++) yield* fail(5, id, email, anywhere())
        yield* fail(1, id, email, anywhere())
        expect(yield* attempt(id, email, "wrong")).toBe(2)
        expect(yield* attempt(id, email, Pages.password)).toBe(2)
        expect(yield* attempt(id, email, Pages.password, known.from)).toBe("right")
        expect(yield* attempt(id, email, Pages.password, home)).toBe("right")
      }))

    it.effect("gives strangers with as many addresses as they like 205 guesses at one admin in a day at most", () =>
      Effect.gen(function*() {
        const { email, id } = yield* stage()
        const started = yield* Clock.currentTimeMillis
        let guesses = 0
        while ((yield* Clock.currentTimeMillis) < started + 86_400_000) {
          const answer = yield* attempt(id, email, "wrong")
          if (answer === "wrong") guesses += 1
          else if (typeof answer === "number") yield* TestClock.adjust(Duration.seconds(answer))
        }
        expect(guesses).toBeGreaterThan(150)
        expect(guesses).toBeLessThanOrEqual(205)
      }))

    it.effect("a known browser has a counter of its own, is known for its admin alone, and no more after a new password", () =>
      Effect.gen(function*() {
        const { admins, email, id } = yield* stage()
        yield* Pages.givePassword(id, admins.admin.id)
        const other = yield* Pages.emailOf(id, admins.admin.id)
        const { cookies, from } = yield* browserOf(id, email)
        const elsewhere = { ...from, ip: anywhere().ip }
        yield* fail(5, id, email, from)
        yield* fail(1, id, email, elsewhere)
        expect(yield* attempt(id, email, Pages.password, { ...from, ip: anywhere().ip })).toBe(2)
        expect(yield* attempt(id, email, Pages.password)).toBe("right")
        yield* fail(6, id, other, elsewhere)
        expect(yield* attempt(id, other, Pages.password, { ...from, ip: anywhere().ip })).toBe("right")
        yield* TestClock.adjust("2 seconds")
        // The secret changes with each sign-in, for whoever has signed in with the browser.
        const next = yield* browserOf(id, other, cookies)
        const stored = () =>
          World.query<{ admin_id: string; digest: string }>(
            id,
            (sql) => sql`select admin_id, digest from known_browser where organization_id = ${id}`
          )
        expect(new Set((yield* stored()).map(({ digest }) => digest)).size).toBe(1)
        expect((yield* stored()).length).toBe(2)
        expect(JSON.stringify(yield* stored())).not.toContain(Redacted.value(next.from.browser))
        yield* Admins.setPassword.run({
          organization: id,
          email: other,
          password: Redacted.make("seven green lanterns hum")
        })
        expect((yield* stored()).map((row) => row.admin_id)).toEqual([admins.owner.id])
      }))

    it.effect("counts a password that is asked again for the credential that is asked, a key with those made by it", () =>
      Effect.gen(function*() {
        const { admins, email, id } = yield* stage()
        const ask = (key: World.Person["key"] | string, current_password: string) =>
          World.send("POST", "/v1/api-keys", {
            key,
            body: { label: "A key", scopes: ["org:read", "admins:write"], current_password }
          })
        const child: World.Answer = yield* ask(admins.owner.key, Pages.password)
        for (const round of [1, 2, 3]) {
          expect([round, ...World.refusal(yield* ask(admins.owner.key, "wrong"))])
            .toEqual([round, 403, "password_incorrect", "current_password"])
          expect([round, ...World.refusal(yield* ask(child.body.secret, "wrong"))])
            .toEqual([round, 403, "password_incorrect", "current_password"])
        }
        const refused = yield* ask(child.body.secret, Pages.password)
        expect([...World.refusal(refused), refused.headers.get("retry-after")]).toEqual([
          429,
          "too_many_attempts",
          "2"
        ])
        expect((yield* Pages.signInWith({ organization: id, email, password: Pages.password })).status).toBe(303)
        const beside = yield* World.makeKey(id, admins.owner.id)
        expect((yield* ask(beside.key, Pages.password)).status).toBe(200)
        yield* TestClock.adjust("2 seconds")
        expect((yield* ask(admins.owner.key, Pages.password)).status).toBe(200)
      }))

    it.effect("counts a password that sessions ask for again for all of the admin's, and for browsers known for a day apart", () =>
      Effect.gen(function*() {
        const { admins, email, id } = yield* stage()
        const before = yield* browserOf(id, email)
        yield* browserOf(id, email)
        yield* TestClock.adjust("1 day")
        yield* browserOf(id, email, before.cookies)
        yield* browserOf(id, email)
        const sessions = yield* World.query<{ id: string; long_known: boolean }>(
          id,
          (sql) => sql`select id, long_known from console_session where organization_id = ${id}`
        )
        const [known = "", ...others] = sessions.filter(({ long_known }) => long_known).map((session) => session.id)
        const [one = "", two = ""] = sessions.filter(({ long_known }) => !long_known).map((session) => session.id)
        expect([known, one, two, others]).toEqual([expect.any(String), expect.any(String), expect.any(String), []])
        for (const session of [one, two, one, two, one, two]) {
          expect(yield* again(id, admins.owner.id, session, "wrong")).toBe("wrong")
        }
        for (const session of [one, two, "none"]) {
          expect(yield* again(id, admins.owner.id, session, Pages.password)).toBe(2)
        }
        expect(yield* again(id, admins.owner.id, known, Pages.password)).toBe("right")
      }))
  })

  layer(World.world(postgres))((it) => {
    it.effect("looks at six of forty attempts that come at once", () =>
      Effect.gen(function*() {
        const { email, id } = yield* stage()
        const here = anywhere()
        const answers = yield* Effect.forEach(times(40), () => attempt(id, email, "wrong", here), {
          concurrency: "unbounded"
        })
        expect(answers.filter((answer) => answer === "wrong").length).toBe(6)
        expect(answers.filter((answer) => answer === 2).length).toBe(34)
      }))

    it.effect("looks at 101 of what a hundred and fifty addresses guess, sixty at once", () =>
      Effect.gen(function*() {
        const { email, id } = yield* stage()
        // With more at once the service may be busy, and what it did not look at does not count.
        const answers = yield* Effect.forEach(times(150), () => attempt(id, email, "wrong"), { concurrency: 60 })
        expect(answers.filter((answer) => answer === "wrong").length).toBe(101)
        expect(answers.filter((answer) => answer === 2).length).toBe(49)
        expect(yield* failures(id)).toMatchObject([{ details: { failures: 101, addresses: 100 } }])
      }))
  })
})
