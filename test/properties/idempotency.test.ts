import { describe, expect, it, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Redacted, Result, Schedule } from "effect"
import type { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Caller } from "../../src/domain/people/Access.ts"
import type * as App from "../../src/http/App.ts"
import * as IdempotencyKeys from "../../src/layers/sql/IdempotencyKeys.ts"
import * as Ports from "../../src/ports/index.ts"
import * as FailedSignIns from "../../src/signin/FailedSignIns.ts"
import * as Processes from "../mcp/processes.ts"
import * as Pages from "../support/http/pages.ts"
import { meet, staged } from "../support/logins/logins.ts"
import { forEachDatabase, postgresUrl } from "../support/postgres/database.ts"
import { recording } from "../support/postgres/statements.ts"
import { replica, replicas } from "../support/replicas.ts"
import * as World from "../support/world.ts"

const wanted = { label: "Nightly export", scopes: ["org:read"] }

const make = (key: World.Asking["key"], idempotencyKey: string, body: object = wanted) =>
  World.send("POST", "/v1/api-keys", {
    ...(key === undefined ? {} : { key }),
    body,
    headers: { "idempotency-key": idempotencyKey }
  })

const isReplayed = (answer: World.Answer) => answer.headers.get("idempotent-replayed") === "true"

const made = Effect.fnUntraced(function*(organizationId: string) {
  const events = yield* World.journal(organizationId)
  const keys = yield* World.query<{ label: string }>(organizationId, (sql) =>
    sql`
    select label from api_key where organization_id = ${organizationId} and label = ${wanted.label}`)
  return { keys: keys.length, entries: events.filter(({ action }) => action === "api_key.created").length }
})

describe("1 Idempotency-Key", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("the same key and content get the first answer again, without its secret", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const first = yield* make(admins.owner.key, "one")
          expect([first.status, isReplayed(first), typeof first.body.secret]).toEqual([200, false, "string"])
          const again = yield* make(admins.owner.key, "one")
          expect([again.status, isReplayed(again), again.body]).toEqual([200, true, { ...first.body, secret: null }])
          expect(yield* made(id)).toEqual({ keys: 1, entries: 1 })
          const rows = yield* World.query<{ answer_sealed: string }>(
            id,
            (sql) => sql`select * from idempotency_key where organization_id = ${id}`
          )
          expect(rows.length).toBe(1)
          expect(JSON.stringify(rows)).not.toContain(first.body.secret)
          expect(JSON.stringify(rows)).not.toContain(wanted.label)
        }))

      it.effect("the same key with other content is refused, and another credential's key is its own", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const other = yield* World.makePerson(id, "superadmin")
          yield* make(admins.owner.key, "one")
          const refused = yield* make(admins.owner.key, "one", { ...wanted, scopes: ["archive:read"] })
          expect([refused.status, refused.body.error.code]).toEqual([409, "idempotency_key_reused"])
          const own = yield* make(other.key, "one")
          expect([own.status, isReplayed(own)]).toEqual([200, false])
          expect(yield* made(id)).toEqual({ keys: 2, entries: 2 })
        }))

      it.effect("content is compared as it is, whatever its texts hold", () =>
        Effect.gen(function*() {
          const { admins } = yield* World.makeOrganization()
          const keys = yield* Ports.IdempotencyKeys
          const credentials = yield* Ports.Credentials
          const known = yield* credentials.authenticate(admins.owner.key, `${World.baseUrl}/v1`)
          const caller = Caller.of({ ...known, via: "embedded", ip: null, requestId: null })
          const claim = (label: string) =>
            Effect.result(keys.claim({ caller, operation: "create_api_key", key: "one", input: { label } }))
          expect(Result.isSuccess(yield* claim("\ud800"))).toBe(true)
          for (
            const [label, code] of [
              ["\ud800", "idempotency_in_progress"],
              ["\ud801", "idempotency_key_reused"],
              ["\\ud800", "idempotency_key_reused"],
              ["\u0000\"\\ud800\"", "idempotency_key_reused"]
            ] as const
          ) {
            const state = yield* claim(label)
            expect([label, Result.isFailure(state) && state.failure._tag]).toEqual([label, code])
          }
        }))

      it.effect("an attacker who repeats a request with guesses of the console password is refused, made to wait and journaled", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          yield* Pages.givePassword(id, admins.owner.id)
          const ask = (current_password?: string) =>
            make(admins.owner.key, "one", {
              ...wanted,
              scopes: ["accounts:write"],
              ...(current_password === undefined ? {} : { current_password })
            })
          const first = yield* ask(Pages.password)
          expect(first.status).toBe(200)
          expect(World.refusal(yield* ask())).toEqual([403, "password_required", "current_password"])
          for (let guess = 1; guess <= 6; guess++) {
            const refused = yield* ask(`guess ${guess}`)
            expect([guess, ...World.refusal(refused)]).toEqual([guess, 403, "password_incorrect", "current_password"])
          }
          for (const text of ["a seventh guess", Pages.password]) {
            const waits = yield* ask(text)
            expect([waits.status, waits.body.error.code]).toEqual([429, "too_many_attempts"])
          }
          yield* TestClock.adjust("2 seconds")
          const again = yield* ask(Pages.password)
          expect([again.status, isReplayed(again), again.body]).toEqual([200, true, { ...first.body, secret: null }])
          yield* FailedSignIns.sweep
          const journaled = (yield* World.journal(id)).filter(({ action }) => action === "console_password.failed")
          expect(journaled.length).toBeGreaterThan(0)
          expect(yield* made(id)).toEqual({ keys: 1, entries: 1 })
        }))

      it.effect("an attacker who repeats a step of a login with guesses of its secret gets the same answer for each", () =>
        Effect.gen(function*() {
          const { key, ...stage } = yield* staged()
          const person = yield* meet({ security: { two_fa_password: Redacted.make("horse staple of its own") } })
          const { body: login } = yield* stage.connect(person.phone)
          const step = (what: string, member: string) => (value: string) =>
            World.send("POST", `/v1/logins/${login.id}/${what}`, {
              key,
              body: { [member]: value },
              headers: { "idempotency-key": what }
            })
          const code = yield* person.code
          for (
            const [submit, right, wrong] of [
              [step("code", "code"), code, "00000"],
              [step("password", "password"), "horse staple of its own", "a guess"]
            ] as const
          ) {
            const first = yield* submit(right)
            expect(first.status).toBe(200)
            for (const value of [wrong, right]) {
              const again = yield* submit(value)
              expect([again.status, isReplayed(again), again.body]).toEqual([200, true, first.body])
            }
          }
        }))

      it.effect("a request that fails releases its key", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const failed = yield* make(admins.owner.key, "one", { ...wanted, scopes: ["accounts:write"] })
          expect([failed.status, failed.body.error.code]).toEqual([403, "password_required"])
          expect((yield* make(admins.owner.key, "one")).status).toBe(200)
          expect(yield* made(id)).toEqual({ keys: 1, entries: 1 })
        }))

      it.effect("a key has 1 to 255 printable ASCII characters; operations that are idempotent take none", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          for (const key of ["", "a".repeat(256), "caf\u00e9"]) {
            const { body, status } = yield* make(admins.owner.key, key)
            expect([status, body.error.code, body.error.param]).toEqual([400, "parameter_invalid", "Idempotency-Key"])
          }
          expect((yield* make(admins.owner.key, "a".repeat(255))).status).toBe(200)
          const account = yield* World.makeAccount(id)
          const paused = yield* World.send("POST", `/v1/accounts/${account}/pause`, {
            key: admins.owner.key,
            headers: { "idempotency-key": "two" }
          })
          expect(paused.status).toBe(200)
          const rows = yield* World.query<{ operation: string }>(
            id,
            (sql) => sql`select operation from idempotency_key where organization_id = ${id}`
          )
          expect(rows).toEqual([{ operation: "create_api_key" }])
        }))

      it.effect("a request without a key says nothing more to the database", () =>
        Effect.gen(function*() {
          const { admins } = yield* World.makeOrganization()
          const { key } = admins.owner
          yield* World.send("POST", "/v1/api-keys", { key, body: wanted })
          const said = (asked: Effect.Effect<World.Answer, never, SqlClient.SqlClient | App.Services>) =>
            Effect.map(recording(asked), ({ said: statements }) => statements.map(({ sql }) => sql))
          const plain = yield* said(World.send("POST", "/v1/api-keys", { key, body: wanted }))
          const keyed = yield* said(make(key, "one"))
          const isOfKeys = (sql: string) => sql.includes("idempotency_key")
          expect(plain.length).toBeGreaterThan(3)
          expect(plain.filter(isOfKeys)).toEqual([])
          // The claim in a transaction of its own, and the answer in the change's.
          expect(keyed.filter(isOfKeys).map((sql) => sql.split(" ", 1)[0])).toEqual(["insert", "update"])
          expect(keyed.filter((sql) => !isOfKeys(sql))).toEqual(plain)
        }))

      it.effect("a key is kept for 24 hours, and then forgotten", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const count = Effect.map(
            World.query(id, (sql) => sql`select 1 from idempotency_key where organization_id = ${id}`),
            (rows) => rows.length
          )
          yield* make(admins.owner.key, "one")
          yield* TestClock.adjust("1439 minutes")
          yield* IdempotencyKeys.sweep
          expect(isReplayed(yield* make(admins.owner.key, "one"))).toBe(true)
          yield* TestClock.adjust("1 minute")
          expect(isReplayed(yield* make(admins.owner.key, "one"))).toBe(false)
          expect(yield* made(id)).toEqual({ keys: 2, entries: 2 })
          yield* TestClock.adjust("24 hours")
          yield* IdempotencyKeys.sweep
          expect(yield* count).toBe(0)
        }))

      it.effect("a claim is over after 60 seconds, and whoever comes back late changes nothing", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const credentials = yield* Ports.Credentials
          const keys = yield* Ports.IdempotencyKeys
          const db = yield* Ports.Db
          const known = yield* credentials.authenticate(admins.owner.key, `${World.baseUrl}/v1`)
          const caller = Caller.of({ ...known, via: "embedded", ip: null, requestId: null })
          const request = { caller, operation: "create_api_key", key: "one", input: wanted }
          const claimed = yield* keys.claim(request)
          if (claimed._tag !== "Claimed") return yield* Effect.die("not claimed")
          yield* TestClock.adjust("59 seconds")
          const busy = yield* make(admins.owner.key, "one")
          expect([busy.status, busy.body.error.code]).toEqual([409, "idempotency_in_progress"])
          yield* TestClock.adjust("1 second")
          const second = yield* make(admins.owner.key, "one")
          expect([second.status, isReplayed(second)]).toEqual([200, false])
          const late = yield* Effect.flip(db.transaction(caller.organizationId, keys.keep(claimed.claim, "{}")))
          expect(late._tag).toBe("idempotency_in_progress")
          yield* keys.release(claimed.claim)
          expect(isReplayed(yield* make(admins.owner.key, "one"))).toBe(true)
          expect(yield* made(id)).toEqual({ keys: 1, entries: 1 })
        }))
    })
  })

  it.live("of a process that is killed between claim and commit nothing is left, and another makes the change", () =>
    Effect.gen(function*() {
      const url = yield* postgresUrl
      const other = yield* replica(url)
      const { admins, id } = yield* other(World.makeOrganization())
      const { key } = admins.owner
      const service = yield* Processes.serve([], {
        CONSOLE_DATABASE_URL: url,
        CONSOLE_PEPPERS: World.peppers,
        CONSOLE_CHECKPOINT_KEYS: World.checkpointKeys,
        CONSOLE_CSRF_KEYS: World.csrfKeys
      })
      const locked = yield* Deferred.make<void>()
      const released = yield* Deferred.make<void>()
      // The change waits for its admin's row, which it locks after the claim has committed.
      const lock = yield* Effect.forkChild(
        other(
          World.query(
            id,
            (sql) =>
              sql`select 1 from admin where organization_id = ${id} and id = ${admins.owner.id} for no key update`.pipe(
                Effect.tap(() => Deferred.succeed(locked, undefined)),
                Effect.tap(() => Deferred.await(released))
              )
          )
        )
      )
      yield* Deferred.await(locked)
      const asked = fetch(`${service.url}/v1/api-keys`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${Redacted.value(key)}`,
          "content-type": "application/json",
          "idempotency-key": "one"
        },
        body: JSON.stringify(wanted)
      }).then(({ status }) => status, () => "cut off")
      const claims = other(World.query(id, (sql) => sql`select 1 from idempotency_key where organization_id = ${id}`))
      yield* Effect.repeat(claims, { until: (rows) => rows.length === 1, schedule: Schedule.spaced("20 millis") })
      yield* service.stop("SIGKILL")
      expect(yield* Effect.promise(() => asked)).toBe("cut off")
      yield* Deferred.succeed(released, undefined)
      yield* Fiber.join(lock)
      const early = yield* other(make(key, "one"))
      expect([early.status, early.body.error.code]).toEqual([409, "idempotency_in_progress"])
      expect(yield* other(made(id))).toEqual({ keys: 0, entries: 0 })
      yield* other(World.query(id, (sql) =>
        sql`
        update idempotency_key set claimed_at = claimed_at - interval '60 seconds' where organization_id = ${id}`))
      const done = yield* other(make(key, "one"))
      expect([done.status, isReplayed(done)]).toEqual([200, false])
      const again = yield* other(make(key, "one"))
      expect([again.status, isReplayed(again), again.body]).toEqual([200, true, { ...done.body, secret: null }])
      expect(yield* other(made(id))).toEqual({ keys: 1, entries: 1 })
    }))

  it.live("of many at once over two replicas one makes the change, and the others are told so", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      const { admins, id } = yield* one(World.makeOrganization())
      for (let round = 1; round <= 6; round++) {
        const ask = make(admins.owner.key, `round ${round}`)
        const answers = yield* Effect.all([one(ask), two(ask), one(ask), two(ask)], { concurrency: "unbounded" })
        const fresh = answers.filter((answer) => answer.status === 200 && !isReplayed(answer))
        expect(fresh.length).toBe(1)
        for (const answer of answers) {
          if (isReplayed(answer)) expect(answer.body).toEqual({ ...fresh[0]?.body, secret: null })
          else if (answer !== fresh[0]) expect(answer.body.error?.code).toBe("idempotency_in_progress")
        }
        expect(isReplayed(yield* two(ask))).toBe(true)
        expect(yield* one(made(id))).toEqual({ keys: round, entries: round })
      }
    }))
})
