import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as AdminLinks from "../../src/operator/people/AdminLinks.ts"
import * as ForgottenPasswords from "../../src/signin/ForgottenPasswords.ts"
import * as Pages from "../support/http/pages.ts"
import { replicas } from "../support/replicas.ts"
import * as World from "../support/world.ts"

const atOnce = { concurrency: "unbounded" } as const
const statuses = (answers: ReadonlyArray<{ readonly status: number }>) => answers.map(({ status }) => status).toSorted()

describe("races of people on PostgreSQL", () => {
  it.live("eight transfers of the ownership at once leave one owner", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      const { admins, id } = yield* one(World.makeOrganization())
      yield* one(Pages.givePassword(id, admins.owner.id))
      const heirs = yield* one(
        Effect.forEach(Array.from({ length: 8 }), () => World.makePerson(id, "superadmin"))
      )
      const answers = yield* Effect.forEach(heirs, (heir, index) =>
        (index % 2 === 0 ? one : two)(World.send("POST", "/v1/organization/ownership", {
          key: admins.owner.key,
          body: { admin_id: heir.id, current_password: Pages.password }
        })), atOnce)
      expect(
        statuses(answers).filter((status) =>
          status === 200
        )
      ).toEqual([200])
      // What is under way counts as a wrong password until it is known: of so many at once some may have to wait.
      expect(
        statuses(answers).filter((status) =>
          ![200, 403, 429].includes(status)
        )
      ).toEqual([])
      const owners = yield* one(World.query<{ id: string }>(id, (sql) =>
        sql`select id from admin where organization_id = ${id} and role = 'owner'`))
      expect(owners.length).toBe(1)
      const events = yield* one(World.journal(id))
      expect(events.map(({ action, target_id }) => [action, target_id])).toEqual([
        ["ownership.transferred", owners[0]?.id]
      ])
    }))

  it.live("superadmins who act on each other and an owner who acts on them at once leave somebody who administers", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      const { admins, id } = yield* one(World.makeOrganization())
      for (let round = 0; round < 6; round++) {
        const [first, second] = yield* one(
          Effect.forEach([1, 2], () => World.makePerson(id, "superadmin"))
        )
        const set = (key: World.Asking["key"] & {}, target: string) =>
          World.put(`/v1/admins/${target}/role`, key, { role: "admin" })
        const answers = yield* Effect.all([
          one(set(first!.key, second!.id)),
          two(set(second!.key, first!.id)),
          one(set(admins.owner.key, first!.id)),
          two(World.send("DELETE", `/v1/admins/${second!.id}`, { key: admins.owner.key }))
        ], atOnce)
        expect(answers.slice(2).map(({ status }) => status)).toEqual([200, 200])
        // Whoever comes after the owner may find an admin already, for whom nothing changes.
        expect(answers.slice(0, 2).filter(({ status }) => status >= 500)).toEqual([])
      }
      const left = yield* one(
        World.query<{ role: string }>(
          id,
          (sql) =>
            sql`select role from admin where organization_id = ${id} and role in ('owner', 'superadmin')
          and removed_at is null`
        )
      )
      expect(left.map(({ role }) => role).toSorted()).toEqual(["owner", "superadmin"])
    }))

  it.live("an invitation that is accepted several times at once is used once", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      const { admins, id } = yield* one(World.makeOrganization())
      const email = "new@example.com"
      yield* one(World.send("POST", "/v1/admins", { key: admins.owner.key, body: { email, role: "admin" } }))
      const { token } = yield* one(AdminLinks.renewInvitation.run({ organization: id, email }))
      const answers = yield* Effect.forEach([one, two, one, two], (replica, index) =>
        replica(Pages.visit("POST", "/console/invitation", {
          form: {
            token: Redacted.value(token),
            new: `seven green lanterns ${index}`,
            repeated: `seven green lanterns ${index}`
          }
        })), atOnce)
      expect(statuses(answers)).toEqual([303, 404, 404, 404])
      const joined = (yield* one(World.journal(id))).filter(({ action }) =>
        action === "admin.joined"
      )
      expect(joined.length).toBe(1)
    }))

  it.live("a link to a new password that is used several times at once is used once, and asked for at once mailed once", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      const { admins, id } = yield* one(World.makeOrganization())
      const email = yield* one(Pages.emailOf(id, admins.owner.id))
      const made = yield* one(AdminLinks.makePasswordLink.run({ organization: id, email }))
      const answers = yield* Effect.forEach(
        [one, two, one, two],
        (replica, index) =>
          replica(Pages.visit("POST", "/console/reset/password", {
            form: {
              token: Redacted.value(made.token),
              new: `seven green lanterns ${index}`,
              repeated: `seven green lanterns ${index}`
            }
          })),
        atOnce
      )
      expect(statuses(answers)).toEqual([303, 404, 404, 404])
      for (const replica of [one, two]) {
        yield* replica(Pages.visit("POST", "/console/reset", { form: { organization: id, email } }))
      }
      yield* Effect.all([one(ForgottenPasswords.mailRequested), two(ForgottenPasswords.mailRequested)], atOnce)
      const actions = (yield* one(World.journal(id))).map(({ action }) => action)
      expect(actions).toEqual(["password_reset.link_made", "admin.password_set", "password_reset.requested"])
    }))

  it.live("a repeated request under one key over two replicas makes one department and one invitation", () =>
    Effect.gen(function*() {
      const [one, two] = yield* replicas
      const { admins, id } = yield* one(World.makeOrganization())
      const requests: ReadonlyArray<readonly [string, object]> = [
        ["/v1/departments", { name: "Legal" }],
        ["/v1/admins", { email: "n@example.com", role: "admin" }]
      ]
      for (const [path, body] of requests) {
        const ask = World.send("POST", path, { key: admins.owner.key, body, headers: { "idempotency-key": "once" } })
        const answers = yield* Effect.all([one(ask), two(ask), one(ask), two(ask)], atOnce)
        expect(statuses(answers).every((status) => status === 200 || status === 409)).toBe(true)
        expect((yield* two(ask)).headers.get("idempotent-replayed")).toBe("true")
      }
      const actions = (yield* one(World.journal(id))).map(({ action }) => action)
      expect(actions).toEqual(["department.created", "admin.invited"])
    }))
})
