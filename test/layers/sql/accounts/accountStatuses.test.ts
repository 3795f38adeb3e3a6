import { describe, expect, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { AccountStatus } from "../../../../src/domain/accounts/ProtectionStatus.ts"
import * as AccountStatuses from "../../../../src/layers/sql/accounts/AccountStatuses.ts"
import { forEachDatabase, postgresUrl } from "../../../support/postgres/database.ts"
import { postgresLayer } from "../../../support/postgres/databaseRoles.ts"
import { recording } from "../../../support/postgres/statements.ts"
import { asSuperuser } from "../../../support/postgres/superuser.ts"
import { replica } from "../../../support/replicas.ts"
import { at, hour } from "../../../support/stored.ts"
import * as World from "../../../support/world.ts"

/** The ids that the list gives for each status. */
const byStatus = (organization: World.Organization) =>
  Effect.forEach(AccountStatus.literals, (status) =>
    Effect.map(
      World.get(`/v1/accounts?status=${status}`, organization.admins.owner.key),
      ({ body }) => [status, body.data.map((account: { id: string }) => account.id)] as const
    ))

const lapsed = (organizationId: string, now: Date) =>
  World.query<{ id: string }>(
    organizationId,
    (sql) => sql`select id from account where organization_id = ${organizationId} and status_until <= ${now}`
  )

describe("what is kept beside the facts", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("refreshing writes down what time has ended, and changes no page", () =>
        Effect.gen(function*() {
          yield* TestClock.setTime(at(0).getTime())
          const organization = yield* World.makeOrganization()
          const account = (facts: Record<string, unknown>) => World.makeAccount(organization.id, { facts })
          yield* account({ takeover_stopped_at: at(-hour) })
          yield* account({ connected_at: at(-hour), enforcement_active_at: at(23 * hour) })
          yield* account({
            takeover_stopped_at: at(-47 * hour),
            connected_at: at(-hour),
            enforcement_active_at: at(23 * hour)
          })
          const reviewed = yield* account({ takeover_stopped_at: at(-hour) })
          yield* World.addRows("session", organization.id, [
            { account_id: reviewed, id: "1", review_deadline: at(90 * hour), seen_at: at(0) }
          ])
          yield* account({ paused_at: at(0), takeover_stopped_at: at(-hour) })
          yield* account({})
          for (const hours of [0, 2, 24, 50]) {
            yield* TestClock.setTime(at(hours * hour).getTime())
            const before = yield* byStatus(organization)
            yield* AccountStatuses.refresh
            expect(yield* byStatus(organization), `after ${hours} hours`).toEqual(before)
            expect(yield* lapsed(organization.id, at(hours * hour - 60_000))).toEqual([])
          }
          expect(Object.fromEntries(yield* byStatus(organization))).toMatchObject({
            hijack_blocked: [],
            recently_connected: [],
            new_sign_in: [reviewed]
          })
          yield* TestClock.adjust("2 minutes")
          yield* AccountStatuses.refresh
          expect(yield* AccountStatuses.refresh).toBe(0)
        }))

      it.effect("an account's events follow it into another department, for admins who are granted that department", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const [first, second] = [yield* World.makeDepartment(id), yield* World.makeDepartment(id)]
          yield* World.grant(id, admins.admin.id, { departments: [first] })
          yield* World.grant(id, admins.archive.id, { departments: [second] })
          const account = yield* World.makeAccount(id, { facts: { department_id: first } })
          yield* World.put(`/v1/accounts/${account}/role-label`, admins.owner.key, { role_label: "Pilot" })
          const seen = Effect.map(
            Effect.forEach([admins.admin, admins.archive], ({ key }) => World.get("/v1/journal", key)),
            (pages) => pages.map(({ body }) => body.data.length)
          )
          const moved = (department: string | null) => World.set(id, "account", account, { department_id: department })
          expect(yield* seen).toEqual([1, 0])
          yield* moved(second)
          expect(yield* seen).toEqual([0, 1])
          yield* moved(null)
          expect(yield* seen).toEqual([0, 0])
          yield* moved(first)
          yield* World.put(`/v1/accounts/${account}/role-label`, admins.owner.key, { role_label: "Navigator" })
          expect(yield* seen).toEqual([2, 0])
        }))
    })
  })

  it.effect("a refresh costs one statement where nothing is due among 500 organizations, and two replicas refresh each account once", () =>
    Effect.gen(function*() {
      const url = yield* postgresUrl
      const [one, two] = [yield* replica(url), yield* replica(url)]
      const accounts = 5
      yield* SqlClient.SqlClient.use((sql) =>
        Effect.andThen(
          sql`insert into organization (id, name, status, created_at, managed, billing_state, seat_limit)
            select 'org-' || n, n, 'active', now(), true, 'none', 9 from generate_series(1, 500) n`,
          sql`insert into account (organization_id, id, messenger_user_id, phone_number, name_key, status, status_until,
              later_statuses, status_changes)
            select 'org-' || n, gen_random_uuid(), each, '+1', '', 'recently_connected', ${at(hour)}, '{protected}',
              array[${at(hour)}::timestamptz]
            from generate_series(1, 500) n, generate_series(1, ${accounts}) each`
        )
      ).pipe(Effect.provide(postgresLayer(asSuperuser(url))))
      yield* TestClock.setTime(at(hour).getTime() + 59_999)
      const idle = yield* one(recording(AccountStatuses.refresh))
      expect([idle.answer, idle.said.length]).toEqual([0, 1])
      yield* TestClock.adjust(1)
      const refreshed = yield* Effect.all([one, two, one, two].map((at) => at(AccountStatuses.refresh)), {
        concurrency: "unbounded"
      })
      expect(refreshed.reduce((sum, each) => sum + each, 0)).toBe(500 * accounts)
      expect((yield* two(recording(AccountStatuses.refresh))).said.length).toBe(1)
      const [left] = yield* one(
        World.query<{ status: string; left: number }>(
          "org-7",
          (sql) =>
            sql`select min(status) as status, count(status_until) as left from account where organization_id = 'org-7'`
        )
      )
      expect(left).toEqual({ status: "protected", left: 0 })
    }))
})
