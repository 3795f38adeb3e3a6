import { describe, expect, layer } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { contentNotice } from "../../src/domain/JsonShapes.ts"
import { drawnOn } from "../support/drawn.ts"
import { forSpecification } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const now = new Date("2026-11-20T12:00:00.000Z")
const hours = (count: number) => new Date(now.getTime() + count * 3_600_000)

/** Facts that put an account in each of the eight statuses at `now`. */
const inStatus: Record<string, Record<string, unknown>> = {
  protected: {},
  new_sign_in: {},
  recently_connected: { connected_at: hours(-1), enforcement_active_at: hours(23) },
  hijack_blocked: { takeover_stopped_at: hours(-47) },
  status_unknown: { monitoring_state: "unknown" },
  protection_stopped: { stopped_at: hours(-1), stop_reason: "session_lost", monitoring_state: "stopped" },
  paused: { paused_at: hours(-1), monitoring_state: "stopped" },
  available: { offboarded_at: hours(-1), monitoring_state: "stopped" }
}

/** An organization with one account in each status, by status. */
const makeAll = Effect.gen(function*() {
  yield* TestClock.setTime(now.getTime())
  const organization = yield* World.makeOrganization()
  const ids: Record<string, string> = {}
  for (const [status, facts] of Object.entries(inStatus)) {
    ids[status] = yield* World.makeAccount(organization.id, { first_name: status, facts })
  }
  yield* World.addRows("session", organization.id, [
    { account_id: ids["new_sign_in"], id: "1", seen_at: now, review_deadline: hours(1) }
  ])
  return { organization, ids, key: organization.admins.owner.key }
})

const ids = (answer: World.Answer): ReadonlyArray<string> => answer.body.data.map(({ id }: { id: string }) => id)

/** Every page of the list, one after the other. */
const walk = Effect.fnUntraced(function*(key: World.Asking["key"] & {}, limit: number, query = "") {
  const pages: Array<ReadonlyArray<string>> = []
  let after = ""
  while (true) {
    const answer = yield* World.get(`/v1/accounts?limit=${limit}${query}${after}`, key)
    expect(answer.status).toBe(200)
    pages.push(ids(answer))
    if (!answer.body.has_more) return pages
    expect(ids(answer)).toHaveLength(limit)
    after = `&starting_after=${ids(answer).at(-1)}`
  }
})

describe("4.7 list_protected_accounts", () => {
  forSpecification((name, database) => {
    layer(World.world(database))((it) => {
      it.effect("S4.7-01, S4.15-01: without parameters it answers the list envelope, and each parameter alone is accepted", () =>
        Effect.gen(function*() {
          const { ids: made, key } = yield* makeAll
          const { body, status } = yield* World.get("/v1/accounts", key)
          expect(status).toBe(200)
          expect(Object.keys(body).sort()).toEqual(["content_notice", "data", "has_more", "object"])
          expect(body).toMatchObject({ object: "list", has_more: false, content_notice: contentNotice })
          expect(body.data).toHaveLength(8)
          for (
            const query of [
              "status=paused",
              `department_id=${crypto.randomUUID()}`,
              "limit=3",
              `starting_after=${made["paused"]}`
            ]
          ) {
            expect([query, (yield* World.get(`/v1/accounts?${query}`, key)).status]).toEqual([query, 200])
          }
          for (const query of ["offset", "ending_before", "name", "limit[]", "account_id"]) {
            expect(World.refusal(yield* World.get(`/v1/accounts?${query}=1`, key))).toEqual([
              400,
              "parameter_invalid",
              query
            ])
          }
        }))

      it.effect("S4.7-02, S4.7-08: each status gives exactly the accounts now in it, and without one all are listed", () =>
        Effect.gen(function*() {
          const { ids: made, key } = yield* makeAll
          for (const [status, id] of Object.entries(made)) {
            const answer = yield* World.get(`/v1/accounts?status=${status}`, key)
            expect([status, ids(answer), answer.body.data[0]?.status]).toEqual([status, [id], status])
          }
          const all = yield* World.get("/v1/accounts", key)
          expect([...ids(all)].sort()).toEqual(Object.values(made).sort())
          for (const status of ["", "Paused", "offboarded", "paused,available", "paused%20", "null"]) {
            const refused = yield* World.get(`/v1/accounts?status=${status}`, key)
            expect(World.refusal(refused)).toEqual([400, "parameter_invalid", "status"])
          }
          const twice = yield* World.get("/v1/accounts?status=paused&status=paused", key)
          expect(World.refusal(twice)).toEqual([400, "parameter_invalid", "status"])
        }))

      it.effect("S4.7-02: the filter follows the clock as the statuses do", () =>
        Effect.gen(function*() {
          const { ids: made, organization } = yield* makeAll
          yield* TestClock.setTime(hours(2).getTime())
          const { key } = organization.admins.superadmin
          const blocked = yield* World.get("/v1/accounts?status=hijack_blocked", key)
          expect(ids(blocked)).toEqual([])
          const safe = yield* World.get("/v1/accounts?status=protected", key)
          expect([...ids(safe)].sort()).toEqual([made["protected"], made["hijack_blocked"]].sort())
        }))

      it.effect("S4.7-03, S4.7-04: a department gives the accounts filed under it, and one unknown, empty or another's none", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          const other = yield* World.makeOrganization()
          const [filled, empty, hidden] = [
            yield* World.makeDepartment(organization.id),
            yield* World.makeDepartment(organization.id),
            yield* World.makeDepartment(organization.id)
          ]
          const theirs = yield* World.makeDepartment(other.id)
          yield* World.makeAccount(other.id, { facts: { department_id: theirs } })
          const inside = [
            yield* World.makeAccount(organization.id, { facts: { department_id: filled } }),
            yield* World.makeAccount(organization.id, { facts: { department_id: filled } })
          ]
          yield* World.makeAccount(organization.id, { facts: { department_id: hidden } })
          yield* World.makeAccount(organization.id)
          yield* World.grant(organization.id, organization.admins.admin.id, { departments: [filled] })
          const ask = (id: string, role: "owner" | "admin") =>
            World.get(`/v1/accounts?department_id=${id}`, organization.admins[role].key)
          expect([...ids(yield* ask(filled, "owner"))].sort()).toEqual([...inside].sort())
          expect([...ids(yield* ask(filled.toUpperCase(), "owner"))].sort()).toEqual([...inside].sort())
          const nothing = (yield* ask(crypto.randomUUID(), "owner")).body
          expect(nothing).toEqual({ object: "list", data: [], has_more: false, content_notice: contentNotice })
          expect((yield* ask(empty, "owner")).body).toEqual(nothing)
          expect((yield* ask(theirs, "owner")).body).toEqual(nothing)
          expect((yield* ask(hidden, "admin")).body).toEqual(nothing)
          expect((yield* ask(crypto.randomUUID(), "admin")).body).toEqual(nothing)
          for (const id of ["1", "", "null", `${filled}x`, filled.replaceAll("-", ""), `{${filled}}`]) {
            expect(World.refusal(yield* ask(id, "owner"))).toEqual([400, "parameter_invalid", "department_id"])
          }
        }))

      it.effect("S4.7-05: limit is 1 to 100, 50 without one, and anything else is refused", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          for (let made = 0; made < 103; made++) yield* World.makeAccount(organization.id)
          const { key } = organization.admins.owner
          for (
            const [query, size] of [["", 50], ["?limit=1", 1], ["?limit=50", 50], ["?limit=99", 99], [
              "?limit=100",
              100
            ]] as const
          ) {
            const answer = yield* World.get(`/v1/accounts${query}`, key)
            expect([query, answer.body.data.length, answer.body.has_more]).toEqual([query, size, true])
          }
          for (
            const limit of [
              "0",
              "101",
              "-1",
              "1.5",
              "1.0",
              "1e1",
              "+5",
              "%205",
              "5%20",
              "",
              "05",
              "0x5",
              "NaN",
              "Infinity",
              "five",
              "9999999999999999999"
            ]
          ) {
            const refused = yield* World.get(`/v1/accounts?limit=${limit}`, key)
            expect([limit, ...World.refusal(refused)]).toEqual([limit, 400, "parameter_invalid", "limit"])
          }
          expect(World.refusal(yield* World.get("/v1/accounts?limit=5&limit=5", key))).toEqual([
            400,
            "parameter_invalid",
            "limit"
          ])
        }))

      const names = [
        "Ada",
        "ada",
        "ADA",
        "Émile",
        "emile",
        "Zoë",
        "ß",
        "ss",
        "ﬁ",
        "fi",
        "10",
        "9",
        "İ",
        "Ж",
        "日本",
        "🦊",
        " "
      ]

      it.effect.prop(
        "S4.7-06, S4.7-09, S4.15-02: at any page size the pages give every account once, in one order by name and then id",
        {
          made: Arbitrary.array(Arbitrary.schema(Schema.Literals(names)), { maxLength: 30 }),
          limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 12 }))
        },
        ({ limit, made }) =>
          Effect.gen(function*() {
            const organization = yield* World.makeOrganization()
            const { key } = organization.admins.owner
            const accounts = yield* Effect.forEach(made, (name) =>
              Effect.map(
                World.makeAccount(organization.id, { id: crypto.randomUUID(), first_name: name }),
                (id) => ({ id, place: name.normalize("NFKC").toLowerCase() })
              ))
            const pages = yield* walk(key, limit)
            const compare = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other))
            const wanted = accounts.sort((one, other) => compare(one.place, other.place) || compare(one.id, other.id))
            expect(pages.flat()).toEqual(wanted.map(({ id }) => id))
            expect(ids(yield* World.get("/v1/accounts?limit=100", key))).toEqual(pages.flat())
          }),
        drawnOn(name, 20)
      )

      it.effect("S4.7-06, S4.15-02: an account made before, after or at the cursor between two pages moves no other", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          const { key } = organization.admins.owner
          for (const first_name of ["b", "d", "f", "h"]) yield* World.makeAccount(organization.id, { first_name })
          const first = yield* World.get("/v1/accounts?limit=2", key)
          for (const first_name of ["a", "d", "g"]) yield* World.makeAccount(organization.id, { first_name })
          const rest = yield* World.get(`/v1/accounts?starting_after=${ids(first)[1]}`, key)
          const seen = [...first.body.data, ...rest.body.data].map(({ name }: any) => name)
          expect(seen.filter((name) => name !== "d")).toEqual(["b", "f", "g", "h"])
          expect(new Set([...ids(first), ...ids(rest)]).size).toBe(seen.length)
        }))

      it.effect("S4.7-07: a cursor that names no account the admin can access is refused alike, unknown or invisible", () =>
        Effect.gen(function*() {
          const organization = yield* World.makeOrganization()
          const theirs = yield* World.makeAccount((yield* World.makeOrganization()).id)
          const hidden = yield* World.makeAccount(organization.id)
          const granted = yield* World.makeAccount(organization.id)
          yield* World.grant(organization.id, organization.admins.archive.id, { accounts: [granted] })
          const ask = (id: string, role: "owner" | "archive") =>
            World.get(`/v1/accounts?starting_after=${id}`, organization.admins[role].key)
          const unknown = yield* ask(crypto.randomUUID(), "archive")
          expect(World.refusal(unknown)).toEqual([400, "parameter_invalid", "starting_after"])
          for (
            const answer of [yield* ask(hidden, "archive"), yield* ask(theirs, "archive"), yield* ask(theirs, "owner")]
          ) {
            expect(answer.body).toEqual(unknown.body)
          }
          expect((yield* ask(granted, "archive")).body.data).toEqual([])
          expect((yield* ask(granted.toUpperCase(), "archive")).status).toBe(200)
          for (const id of ["", "1", `${granted}0`]) {
            expect(World.refusal(yield* ask(id, "archive"))).toEqual([400, "parameter_invalid", "starting_after"])
          }
        }))

      it.effect.prop(
        "S4.7-10: admin and archive get what is granted to them, by account or department, and has_more counts only that",
        {
          accounts: Arbitrary.array(
            Schema.Struct({ granted: Schema.Boolean, filed: Schema.Boolean }).pipe(Arbitrary.schema),
            { minLength: 1, maxLength: 12 }
          ),
          department: Schema.Boolean
        },
        ({ accounts, department }) =>
          Effect.gen(function*() {
            const organization = yield* World.makeOrganization()
            const { admins } = organization
            const filed = yield* World.makeDepartment(organization.id)
            const made = yield* Effect.forEach(accounts, (account) =>
              Effect.map(
                World.makeAccount(organization.id, { facts: { department_id: account.filed ? filed : null } }),
                (id) => ({ ...account, id })
              ))
            const reached = made.filter((account) => account.granted || department && account.filed).map(({ id }) => id)
            for (const role of ["admin", "archive"] as const) {
              yield* World.grant(organization.id, admins[role].id, {
                accounts: made.filter(({ granted }) => granted).map(({ id }) => id),
                departments: department ? [filed] : []
              })
              expect((yield* walk(admins[role].key, 1)).flat().sort()).toEqual([...reached].sort())
              if (reached.length > 0) {
                const exact = yield* World.get(`/v1/accounts?limit=${reached.length}`, admins[role].key)
                expect([exact.body.data.length, exact.body.has_more]).toEqual([reached.length, false])
              }
            }
            for (const role of ["owner", "superadmin", "billing"] as const) {
              expect((yield* walk(admins[role].key, 5)).flat().sort()).toEqual(made.map(({ id }) => id).sort())
            }
          }),
        drawnOn(name, 12)
      )
    })
  })
})
