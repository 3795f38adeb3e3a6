import { describe, expect, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Tenant from "../../../../src/layers/postgres/Tenant.ts"
import * as Pages from "../../../support/http/pages.ts"
import { forEachDatabase } from "../../../support/postgres/database.ts"
import { recording } from "../../../support/postgres/statements.ts"
import * as World from "../../../support/world.ts"
import { anywhere, attempt, fail, failures, type From, nobody, stage, sweep } from "./throttling.ts"

describe("the console password's throttle", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("treats an address that is no admin's as it treats one that is", () =>
        Effect.gen(function*() {
          const { id } = yield* stage()
          const unknown = nobody()
          const here = anywhere()
          yield* fail(6, id, unknown, here)
          expect(yield* attempt(id, unknown, "wrong", here)).toBe(2)
          expect(yield* attempt("nowhere", unknown, "wrong", here)).toBe("wrong")
        }))

      it.effect("journals the first failure and a burst at once, then what follows once an hour, with counts and no password", () =>
        Effect.gen(function*() {
          const { admins, email, id } = yield* stage()
          const from = anywhere()
          const since = new Date(yield* Clock.currentTimeMillis).toISOString()
          yield* attempt(id, email, "wrong-secret", from)
          expect((yield* failures(id)).map(({ details }) => details["failures"])).toEqual([1])
          yield* fail(4, id, email, from)
          yield* attempt(id, email, "wrong-secret")
          expect((yield* failures(id)).map(({ details }) => details["failures"])).toEqual([1, 5])
          for (let guess = 0; guess < 39; guess++) yield* attempt(id, email, "wrong-secret")
          expect((yield* failures(id)).map(({ details }) => details["failures"])).toEqual([1, 5])
          yield* TestClock.adjust(3_599_999)
          yield* sweep
          expect((yield* failures(id)).length).toBe(2)
          yield* TestClock.adjust(1)
          yield* sweep
          const events = yield* failures(id)
          expect(events).toMatchObject([
            {
              outcome: "refused",
              actor_type: "external",
              via: "console",
              ip: from.ip,
              target_type: "admin",
              target_id: admins.owner.id,
              details: { failures: 1, addresses: 1, since }
            },
            { details: { failures: 5, addresses: 2 } },
            { details: { failures: 39, addresses: 39 } }
          ])
          expect(JSON.stringify(events)).not.toContain("wrong-secret")
          yield* TestClock.adjust("2 hours")
          yield* sweep
          expect((yield* failures(id)).length).toBe(3)
          yield* attempt(id, email, "wrong")
          yield* attempt(id, email, "wrong")
          yield* Pages.signInWith({ organization: id, email, password: Pages.password })
          expect((yield* World.journal(id)).slice(3).map(({ action, details }) => [action, details["failures"]]))
            .toEqual([["console_password.failed", 2], ["console.signed_in", undefined]])
        }))

      it.effect("an attacker who gives wrong passwords has the same work done for an admin's address as for nobody's", () =>
        Effect.gen(function*() {
          const { admins, email, id } = yield* stage()
          const now = new Date(yield* Clock.currentTimeMillis)
          yield* World.query(id, (sql) =>
            sql`
            insert into known_browser (organization_id, admin_id, digest, address, last_used_at, known_since)
            values (${id}, ${admins.owner.id}, 'of another browser', '2001:db8:7:7::/64', ${now}, ${now})`)
          const saidOf = (of: string, from: From) =>
            Effect.map(
              recording(attempt(id, of, "wrong", from)),
              ({ said }) => said.map(({ inTransaction, sql }) => [inTransaction, sql])
            )
          const atHome = (): From => ({ ...anywhere(), ip: "2001:db8:7:7::1" })
          const unknown = nobody()
          for (const from of [anywhere, atHome]) {
            for (let guess = 1; guess <= 7; guess++) {
              const [here, there] = [from(), from()]
              const known = yield* saidOf(email, here)
              expect(known.length).toBeGreaterThan(3)
              expect([guess, yield* saidOf(unknown, there)]).toEqual([guess, known])
            }
            yield* sweep
          }
        }))

      it.effect("journals failures of an address whose admin was invited after them, and forgets those of nobody", () =>
        Effect.gen(function*() {
          const { id } = yield* stage()
          const email = nobody()
          yield* attempt(id, email, "wrong")
          yield* attempt(id, nobody(), "wrong")
          expect(yield* failures(id)).toEqual([])
          const person = yield* World.makePerson(id, "admin", { email })
          yield* attempt(id, email, "wrong")
          expect((yield* failures(id)).map(({ target_id }) => target_id)).toEqual([person.id])
          yield* TestClock.adjust("1 hour")
          yield* sweep
          const rows = yield* Effect.orDie(
            SqlClient.SqlClient.use((sql) =>
              Tenant.directory(sql)(sql`select 1 from password_failure where admin_id is null`)
            )
          )
          expect(rows).toEqual([])
        }))

      it.effect("keeps neither addresses of emails nor passwords, and forgets what counts no more", () =>
        Effect.gen(function*() {
          const { email, id } = yield* stage()
          yield* attempt(id, email, "wrong-secret")
          const rows = Effect.map(World.throttle, (all) => JSON.stringify(all))
          expect(yield* rows).not.toContain(email)
          expect(yield* rows).not.toContain("wrong-secret")
          yield* TestClock.adjust("1 day")
          yield* sweep
          expect(yield* rows).toBe("[]")
        }))

      it.effect("takes a password in whatever form the keyboard composes it, and an old hash of it as it was typed", () =>
        Effect.gen(function*() {
          const { admins, email, id } = yield* stage()
          const [composed, decomposed] = ["Gr\u00fcne Laterne sieben", "Gru\u0308ne Laterne sieben"]
          yield* Pages.givePassword(id, admins.owner.id, composed)
          expect([yield* attempt(id, email, composed), yield* attempt(id, email, decomposed)]).toEqual([
            "right",
            "right"
          ])
          yield* Pages.givePassword(id, admins.owner.id, decomposed)
          expect([yield* attempt(id, email, composed), yield* attempt(id, email, decomposed)]).toEqual([
            "wrong",
            "right"
          ])
        }))

      it.effect("a password that was hashed with other parameters is hashed anew when it is used", () =>
        Effect.gen(function*() {
          const { admins, email, id } = yield* stage()
          const { hash } = yield* Effect.promise(() => import("@node-rs/argon2"))
          const old = yield* Effect.promise(() => hash(Pages.password, { memoryCost: 16, timeCost: 1, parallelism: 1 }))
          yield* World.set(id, "admin", admins.owner.id, { password_hash: old })
          const kept = Effect.map(
            World.query<{ password_hash: string }>(
              id,
              (sql) => sql`select password_hash from admin where organization_id = ${id} and id = ${admins.owner.id}`
            ),
            ([row]) => row!.password_hash
          )
          expect(yield* attempt(id, email, "wrong")).toBe("wrong")
          expect(yield* kept).toBe(old)
          expect(yield* attempt(id, email, Pages.password)).toBe("right")
          expect(yield* kept).toMatch(/^\$argon2id\$v=19\$m=8,t=1,p=1\$/)
          expect(yield* attempt(id, email, Pages.password)).toBe("right")
        }))
    })
  })
})
