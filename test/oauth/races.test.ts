import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { verify } from "../../src/layers/sql/journal/JournalChain.ts"
import { register } from "../../src/oauth/registration/Register.ts"
import * as Fixtures from "../support/fixtures.ts"
import * as Pages from "../support/http/pages.ts"
import { superuser, superuserUrlHere } from "../support/postgres/superuser.ts"
import { replicas } from "../support/replicas.ts"
import * as World from "../support/world.ts"
import {
  callback,
  connections,
  invalidToken,
  issuer,
  ok,
  redeemWith,
  refreshWith,
  registration,
  stage,
  tokens,
  use
} from "./support.ts"

const createPath = "/console/developer/api-keys"

const atOnce = { concurrency: "unbounded" } as const

const successes = (answers: ReadonlyArray<World.Answer>) => answers.filter(({ status }) => status === 200)

/** The refusals' codes, of which there is one. */
const refusals = (answers: ReadonlyArray<World.Answer>) =>
  new Set(answers.filter(({ status }) => status !== 200).map(({ body, status }) => `${status} ${body.error}`))

describe("OAuth races on PostgreSQL", () => {
  it.live("case 49: of six parallel redemptions over two replicas one gets tokens, which are dead afterwards", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      const { connect, organization } = yield* one(stage())
      for (let round = 0; round < 10; round++) {
        const granted = yield* one(connect())
        const answers = yield* Effect.forEach(
          Array.from({ length: 6 }),
          (_, at) => (at % 2 === 0 ? one : two)(redeemWith(granted)),
          atOnce
        )
        expect([round, successes(answers).length]).toEqual([round, 1])
        expect(refusals(answers)).toEqual(new Set(["400 invalid_grant"]))
        const issued = tokens(successes(answers)[0]!)
        for (const replica of [one, two]) expect(yield* replica(use(issued.access_token))).toEqual(invalidToken)
        expect((yield* one(connections(organization.id))).filter(({ revoked_at }) => revoked_at === null)).toEqual([])
      }
      expect(yield* one(Fixtures.within(organization.id, verify(organization.id)))).toMatchObject({ ok: true })
    }))

  it.live(
    "case 56: of eight parallel refreshes with one token over two replicas one gets tokens, and the connection is dead afterwards",
    () =>
      Effect.gen(function*() {
        const [one, two] = yield* replicas
        const { application, connect, organization } = yield* one(stage())
        for (let round = 0; round < 30; round++) {
          const first = tokens(yield* one(redeemWith(yield* one(connect()))))
          const answers = yield* Effect.forEach(
            Array.from({ length: 8 }),
            (_, at) => (at % 2 === 0 ? one : two)(refreshWith(application, first.refresh_token)),
            atOnce
          )
          expect([round, successes(answers).length]).toEqual([round, 1])
          expect(refusals(answers)).toEqual(new Set(["400 invalid_grant"]))
          const issued = tokens(successes(answers)[0]!)
          for (const replica of [one, two]) {
            expect(yield* replica(use(issued.access_token))).toEqual(invalidToken)
            expect(yield* replica(use(first.access_token))).toEqual(invalidToken)
            expect((yield* replica(refreshWith(application, issued.refresh_token))).status).toBe(400)
          }
        }
        const found = yield* one(connections(organization.id))
        expect(found.filter(({ revoked_at }) => revoked_at === null)).toEqual([])
        const reused = (yield* one(World.journal(organization.id))).filter(
          ({ action }) => action === "refresh_token.reused"
        )
        expect(reused.length).toBe(30)
        expect(yield* one(Fixtures.within(organization.id, verify(organization.id)))).toMatchObject({ ok: true })
      }),
    120_000
  )

  it.live("case 64: a connection that is disconnected on one replica is unknown on the other at once", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      const { connect, organization, owner } = yield* one(stage())
      const first = tokens(yield* one(redeemWith(yield* one(connect()))))
      expect(yield* two(use(first.access_token))).toEqual(ok)
      const [connection] = yield* one(connections(organization.id))
      const answer = yield* one(World.send("DELETE", `/v1/ai-connections/${connection?.id}`, { key: owner.key }))
      expect(answer.status).toBe(200)
      expect(yield* two(use(first.access_token))).toEqual(invalidToken)
      expect(yield* one(use(first.access_token))).toEqual(invalidToken)
    }))

  it.live("case 18: parallel registrations over two replicas do not pass the limit", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      const answers = yield* Effect.forEach(
        Array.from({ length: 40 }),
        (_, at) =>
          (at % 2 === 0 ? one : two)(
            Effect.match(register(issuer, { redirect_uris: [callback] }, "198.51.100.7"), {
              onSuccess: () => true,
              onFailure: () => false
            })
          ),
        atOnce
      )
      expect(answers.filter((registered) => registered).length).toBe(20)
      expect((yield* one(registration())).status).toBe(201)
    }))

  it.live("case 18: of two replicas that count before either has kept its registration one keeps the last that is left", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      const attempt = Effect.match(register(issuer, { redirect_uris: [callback] }, "198.51.100.7"), {
        onSuccess: () => true,
        onFailure: () => false
      })
      for (let number = 1; number < 20; number++) expect(yield* one(attempt)).toBe(true)
      const other = yield* superuser(yield* one(superuserUrlHere))
      const waiting = Effect.promise(() =>
        other.query<{ count: number }>(
          "select count(distinct pid)::int as count from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())"
        )
      )
      yield* Effect.promise(() => other.query("begin; lock table oauth_client in share mode"))
      const both = yield* Effect.forkChild(Effect.all([one(attempt), two(attempt)], atOnce))
      yield* waiting.pipe(
        Effect.delay("5 millis"),
        Effect.repeat({ until: ({ rows }) => rows[0]?.count === 2, times: 2000 })
      )
      yield* Effect.promise(() => other.query("commit"))
      expect((yield* Fiber.join(both)).toSorted()).toEqual([false, true])
    }))

  it.live("two simultaneous posts of one form for a key over two replicas make one key, which one of them shows", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      const { admins, id } = yield* one(World.makeOrganization())
      const cookie = yield* one(Pages.signIn(id, admins.owner.id))
      const form = Effect.map(
        one(Pages.visit("GET", "/console/developer/api-keys/new", { cookie })),
        (page) => ({ ...Pages.formOf(page, createPath).hidden, label: "Twice", scope: "org:read", expiry: "90" })
      )
      for (let round = 1; round <= 5; round++) {
        const sent = yield* form
        const pages = yield* Effect.forEach(
          [one, two, one, two],
          (replica) => replica(Pages.visit("POST", createPath, { cookie, form: sent })),
          atOnce
        )
        expect(pages.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409])
        const shown = pages.filter(({ text }) => /osc_live_[0-9A-Za-z]{49}/.test(text))
        expect(shown.map(({ status }) => status)).toEqual([200])
        const made = World.query(id, (sql) => sql`select 1 from api_key where label = 'Twice'`)
        expect((yield* one(made)).length).toBe(round)
      }
      const [first, second] = [yield* form, yield* form]
      const both = yield* Effect.all(
        [
          one(Pages.visit("POST", createPath, { cookie, form: first })),
          two(Pages.visit("POST", createPath, { cookie, form: second }))
        ],
        atOnce
      )
      expect(both.map(({ status }) => status)).toEqual([200, 200])
      expect(yield* one(Fixtures.within(id, verify(id)))).toMatchObject({ ok: true })
    }))
})
