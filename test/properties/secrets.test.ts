import { describe, expect, layer } from "@effect/vitest"
import { Arbitrary, Effect, Logger, Redacted } from "effect"
import { SqlClient, Statement } from "effect/sql"
import { TestClock } from "effect/testing"
import { Role } from "../../src/domain/people/Access.ts"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { Journal } from "../../src/ports/journal/Journal.ts"
import { sampled } from "../support/drawn.ts"
import * as Populated from "../support/populated.ts"
import { forEachDatabase } from "../support/postgres/database.ts"
import * as Random from "../support/random.ts"
import * as HeldSecrets from "../support/security/heldSecrets.ts"
import * as World from "../support/world.ts"

const password = Redacted.make("correct horse battery staple")
const addresses = ["ada.lovelace.private@example.org", "recovery.address@example.net"]

/** An organization whose service holds a 2FA password, and everything of it that nobody may see. */
const stage = Effect.gen(function*() {
  const organization = yield* Populated.make()
  const platform = yield* SimulatedPlatform
  const { id, live } = organization
  for (const account of live) {
    yield* platform.changeSecurity(account.userId, {
      two_fa_password: password,
      login_email: addresses[0] ?? null,
      recovery_email: addresses[1] ?? null
    })
    yield* HeldSecrets.hold(id, account.id, { password })
  }
  const keys = Object.values(organization.admins).map(({ key }) => Redacted.value(key))
  return {
    organization,
    keys,
    /** Keys whole and without their prefix and checksum, the password as it is and encoded, and the addresses. */
    secrets: [
      ...keys.flatMap((key) => [key, key.slice("osc_live_".length, -6)]),
      Redacted.value(password),
      Buffer.from(Redacted.value(password)).toString("base64"),
      Buffer.from(Redacted.value(password)).toString("hex"),
      encodeURIComponent(Redacted.value(password)),
      ...addresses,
      Buffer.alloc(32, 7).toString("base64"),
      Buffer.alloc(32, 7).toString("hex")
    ],
    sessionRefs: live.map(({ sessionRef }) => sessionRef as string)
  }
})

const among = (text: string, secrets: ReadonlyArray<string>) => secrets.filter((secret) => text.includes(secret))

/** Runs the effect, and answers with the lines that it logged. */
const logging = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  const lines: Array<string> = []
  const logger = Logger.make((options) => {
    lines.push(Logger.formatJson.log(options), Logger.formatLogFmt.log(options), Logger.formatSimple.log(options))
  })
  return Effect.map(Effect.provide(effect, Logger.layer([logger])), (answer) => ({ answer, lines: lines.join("\n") }))
}

const text = ({ body, headers, status }: World.Answer) => JSON.stringify([status, [...headers], body])

describe("5.1 secrets", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("no table, answer, journal entry or log line holds a key, a password or an address in clear", () =>
        Effect.gen(function*() {
          const { organization, secrets, sessionRefs } = yield* stage
          const { admins, id, ids, live } = organization
          // Those whose secrets are read below stay protected.
          const leaving = { ...ids, account: ids.account.slice(live.length) }
          const platform = yield* SimulatedPlatform
          const sql = yield* SqlClient.SqlClient
          const step = Arbitrary.all({
            role: Random.pickOf(...Role.literals),
            draft: Random.drafts()
          })
          const steps = yield* Arbitrary.sampleEffect(step, sampled(60))
          const { answer: answers, lines } = yield* logging(Effect.gen(function*() {
            const answers: Array<string> = []
            for (const [index, { draft, role }] of steps.entries()) {
              if (index % 45 === 0) yield* TestClock.adjust("61 seconds")
              const among = draft.operation === "offboard_account" ? leaving : ids
              answers.push(text(yield* Random.send(Random.draw(draft, among), admins[role].key)))
            }
            yield* TestClock.adjust("61 seconds")
            for (const account of organization.live) {
              yield* platform.changeSecurity(account.userId, { two_fa_password: password })
              yield* HeldSecrets.hold(id, account.id, { password })
              const read = yield* World.get(`/v1/accounts/${account.id}/messenger-profile`, admins.owner.key)
              expect(read.body).toMatchObject({ two_fa_present: true, two_fa_managed: true })
              answers.push(text(read))
              for (const { key } of Object.values(admins)) {
                for (const path of ["", "/messenger-profile"]) {
                  answers.push(text(yield* World.get(`/v1/accounts/${account.id}${path}`, key)))
                }
              }
            }
            return answers
          }))
          expect(answers.filter((answer) => among(answer, [...secrets, ...sessionRefs]).length > 0)).toEqual([])
          expect(among(lines, [...secrets, ...sessionRefs])).toEqual([])
          const tables = yield* sql<{ name: string }>`select tablename::text as name from pg_tables
            where schemaname = 'public' and has_table_privilege(to_regclass(quote_ident(tablename)), 'select')`
          const outside = yield* Effect.forEach(
            tables,
            ({ name }) => sql`select to_jsonb(rows)::text as row from ${sql(name)} rows`
          )
          const stored = JSON.stringify([yield* World.snapshot(id), outside])
          expect(among(stored, secrets)).toEqual([])
          const journal = JSON.stringify(yield* World.journal(id))
          expect(journal.length).toBeGreaterThan(1000)
          expect(among(journal, sessionRefs)).toEqual([])
          // What the search must find: digests instead of keys, the sealed password, references where they belong.
          expect(among(stored, sessionRefs)).toEqual(sessionRefs)
          expect(stored).toMatch(/"digest":\s*"[0-9a-f]{64}"/)
          expect(stored).toMatch(/"sealed":\s*"[0-9a-f]{8}\.[\w-]{40,}"/)
          expect(stored).toContain("simulated-")
          expect(stored).toMatch(/a\*+e@example\.org/)
        }))

      it.effect("what goes wrong is logged without the key, the password and the session that it went wrong with", () =>
        Effect.gen(function*() {
          const { keys, organization, secrets, sessionRefs } = yield* stage
          const { admins, id, ids, live } = organization
          const platform = yield* SimulatedPlatform
          const journal = yield* Journal
          const [first] = live
          if (first === undefined) return yield* Effect.die(new Error("No account"))
          const profile = `/v1/accounts/${first.id}/messenger-profile`
          const owner = admins.owner.key
          const broken = Journal.of({ ...journal, append: () => Effect.die(new Error("The journal is broken")) })
          const { answer: answers, lines } = yield* logging(Effect.gen(function*() {
            yield* TestClock.adjust("61 seconds")
            const answers = [
              yield* Effect.provideService(
                World.put(`/v1/accounts/${ids.account[0]}/role-label`, owner, { role_label: "Broken" }),
                Journal,
                broken
              ),
              yield* Effect.provideService(
                World.get("/v1/organization", owner),
                Statement.CurrentTransformer,
                (_, sql) => Effect.succeed(sql.unsafe("select broken"))
              ),
              yield* World.get("/v1/organization", `${keys[0]}x`),
              yield* World.send("GET", "/v1/organization", { headers: { authorization: `Basic ${keys[0]}` } })
            ]
            yield* platform.script({ operation: "profile", answer: { _tag: "Refused", reason: "THE_REASON" } })
            answers.push(yield* World.get(profile, owner))
            const [another] = yield* World.query<{ id: string }>(
              id,
              (sql) => sql`select id from account where organization_id = ${id} and session_ref is null limit 1`
            )
            yield* HeldSecrets.move(id, first.id, another?.id ?? "")
            yield* World.set(id, "account", another?.id ?? "", { session_ref: first.sessionRef })
            answers.push(yield* World.get(`/v1/accounts/${another?.id}/messenger-profile`, owner))
            return answers
          }))
          expect(answers.map(({ status }) => status)).toEqual([500, 500, 401, 401, 409, 500])
          expect(among(answers.map(text).join(), [...secrets, ...sessionRefs])).toEqual([])
          expect(lines).toContain("The journal is broken")
          expect(lines).toContain("THE_REASON")
          expect(among(lines, [...secrets, ...sessionRefs])).toEqual([])
        }))

      it.effect("the search finds a secret that is logged, stored or answered", () =>
        Effect.gen(function*() {
          const { keys, organization, secrets } = yield* stage
          const key = keys[0] ?? ""
          const { lines } = yield* logging(Effect.logError("A request failed", new Error(`with ${key}`)))
          expect(among(lines, secrets)).toContain(key)
          const redacted = yield* logging(Effect.logError("A request failed", organization.admins.owner, password))
          expect(redacted.lines).toContain(organization.admins.owner.id)
          expect(among(redacted.lines, secrets)).toEqual([])
          yield* World.set(organization.id, "account", organization.live[0]?.id ?? "", { lock_reason: key })
          expect(among(JSON.stringify(yield* World.snapshot(organization.id)), secrets)).toContain(key)
          yield* World.set(organization.id, "account", organization.live[0]?.id ?? "", {
            lock_reason: null,
            role_label: Redacted.value(password)
          })
          const answer = yield* World.get(
            `/v1/accounts/${organization.live[0]?.id}`,
            organization.admins.owner.key
          )
          expect(among(text(answer), secrets)).toEqual([Redacted.value(password)])
        }))
    })
  })
})
