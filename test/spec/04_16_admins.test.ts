import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Role } from "../../src/domain/people/Access.ts"
import * as Pages from "../support/http/pages.ts"
import * as Mails from "../support/mail/outbox.ts"
import * as Limited from "../support/people/limited.ts"
import { forSpecification } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

type Key = World.Asking["key"] & {}

const confirmed = { current_password: Pages.password }

/** An organization whose owner and superadmin have a console password. */
const confirming = Effect.gen(function*() {
  const made = yield* World.makeOrganization()
  for (const { id } of [made.admins.owner, made.admins.superadmin]) yield* Pages.givePassword(made.id, id)
  return made
})

const invite = (key: Key, body: object) => World.send("POST", "/v1/admins", { key, body })
const act = (key: Key, id: string, what: string) => World.post(`/v1/admins/${id}/${what}`, key)
const setRole = (key: Key, id: string, role: Role) =>
  World.put(`/v1/admins/${id}/role`, key, { role, ...(role === "admin" ? {} : confirmed) })
const grant = (key: Key, id: string, account_ids: ReadonlyArray<string>, department_ids: ReadonlyArray<string> = []) =>
  World.put(`/v1/admins/${id}/access`, key, { account_ids, department_ids })
const remove = (key: Key, id: string) => World.send("DELETE", `/v1/admins/${id}`, { key })
const code = ({ body, status }: World.Answer) => body?.error?.code ?? status

describe("4.16, 10.6 admins", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("are listed the owner first and then by address, to owner and superadmins, and others see themselves", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const first = yield* World.makePerson(id, "billing", { email: "Aaron@example.com" })
          const list = yield* World.get("/v1/admins?limit=4", admins.superadmin.key)
          const rest = yield* World.get(`/v1/admins?starting_after=${list.body.data[3].id}`, admins.superadmin.key)
          const found = [...list.body.data, ...rest.body.data]
          expect([list.body.has_more, rest.body.has_more, found.length]).toEqual([true, false, 6])
          expect(found.slice(0, 2).map((admin) => admin.id)).toEqual([admins.owner.id, first.id])
          const others = found.slice(1).map(({ email }) => email.toLowerCase())
          expect(others).toEqual(others.toSorted())
          expect(found[0]).toMatchObject({ role: "owner", status: "active", mine: false, credentials: 1 })
          for (const role of ["admin", "billing", "archive"] as const) {
            const { body } = yield* World.get("/v1/admins", admins[role].key)
            expect(body.data.map((admin: any) => [admin.id, admin.mine, admin.credentials])).toEqual([
              [admins[role].id, true, null]
            ])
            expect(code(yield* World.get(`/v1/admins/${admins.owner.id}`, admins[role].key))).toBe("resource_missing")
          }
          const billing = yield* World.get("/v1/admins?role=billing&status=active", admins.owner.key)
          expect(billing.body.data.map((admin: any) => admin.role)).toEqual(["billing", "billing"])
        }))

      it.effect("are invited once by address, with the access that their role can have", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* confirming
          const department = yield* World.makeDepartment(id)
          const made = yield* invite(admins.superadmin.key, {
            email: "new@example.com",
            role: "admin",
            access: { department_ids: [department], archive: true },
            ...confirmed
          })
          expect(made.body).toMatchObject({
            status: "invited",
            access: { scope_type: "granted", account_ids: [], department_ids: [department], archive: true },
            invitation_expires_at: "1970-01-08T00:00:00.000Z"
          })
          expect(JSON.stringify(made.body)).not.toContain("inv_")
          const refusals: ReadonlyArray<readonly [Key, object, string]> = [
            [admins.owner.key, { email: "NEW@example.com", role: "billing" }, "admin_exists"],
            [admins.superadmin.key, { email: "s@example.com", role: "superadmin" }, "owner_required"],
            [admins.owner.key, { email: "b@example.com", role: "billing", access: {} }, "access_not_applicable"],
            [
              admins.owner.key,
              { email: "r@example.com", role: "archive", access: { archive: false } },
              "access_not_applicable"
            ],
            [admins.owner.key, { email: "o@example.com", role: "owner" }, "parameter_invalid"],
            [admins.owner.key, { email: "nobody", role: "admin" }, "parameter_invalid"],
            [
              admins.owner.key,
              { email: "x@example.com", role: "admin", access: { account_ids: [admins.owner.id] } },
              "resource_missing"
            ]
          ]
          for (const [key, body, refused] of refusals) {
            expect([body, code(yield* invite(key, { ...body, ...confirmed }))]).toEqual([body, refused])
          }
          const [event] = yield* World.journal(id)
          expect([event?.action, event?.target_id]).toEqual(["admin.invited", made.body.id])
          yield* World.query(id, (sql) => sql`select 1 from admin where organization_id = ${id}`)
          for (let time = 0; time < 4; time++) {
            expect(code(yield* act(admins.owner.key, made.body.id, "resend-invitation"))).toBe(200)
          }
          const over = yield* act(admins.owner.key, made.body.id, "resend-invitation")
          expect([over.status, code(over), over.headers.get("retry-after")]).toEqual([
            429,
            "too_many_attempts",
            "86400"
          ])
          yield* TestClock.adjust("1 day")
          const again = yield* act(admins.owner.key, made.body.id, "resend-invitation")
          expect(again.body.invitation_expires_at).toBe("1970-01-09T00:00:00.000Z")
          expect(code(yield* act(admins.owner.key, admins.admin.id, "resend-invitation"))).toBe("not_invited")
        }))

      it.effect("are invited at an address that mail can be sent to, without the spaces around it", () =>
        Effect.gen(function*() {
          const { admins } = yield* World.makeOrganization()
          const { key } = admins.owner
          const made = yield* invite(key, { email: " Nina.O'Neil+it@mail.example.com ", role: "admin" })
          expect([made.status, made.body.email]).toEqual([200, "Nina.O'Neil+it@mail.example.com"])
          const noAddresses = [
            "<a@example.com>",
            "a@b@example.com",
            "a,b@example.com",
            "\"a\"@example.com",
            "a@-example"
          ]
          for (const email of noAddresses) {
            const refused = World.refusal(yield* invite(key, { email, role: "admin" }))
            expect([email, ...refused]).toEqual([email, 400, "parameter_invalid", "email"])
          }
        }))

      it.effect("name the input at fault, and the place within it", () =>
        Effect.gen(function*() {
          const { admins } = yield* World.makeOrganization()
          const { billing, archive, owner } = admins
          const person = { email: "p@example.com", role: "admin" }
          const faults = [
            [{ extra: 1 }, "access.extra: is not known here."],
            [{ department_ids: ["x"] }, "access.department_ids[0]: expected a UUID."]
          ] as const
          for (const [access, message] of faults) {
            const { body } = yield* invite(owner.key, { ...person, access })
            expect([body.error.param, body.error.message]).toEqual(["access", message])
          }
          expect(World.refusal(yield* grant(owner.key, billing.id, []))).toEqual([409, "access_not_applicable"])
          const path = `/v1/admins/${archive.id}/access`
          const without = yield* World.put(path, owner.key, { account_ids: [], department_ids: [], archive: false })
          expect(World.refusal(without)).toEqual([409, "access_not_applicable", "archive"])
        }))

      it.effect("who have not joined are mailed a new link, the owner too", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          yield* World.set(id, "admin", admins.owner.id, { joined_at: null })
          expect(code(yield* act(admins.superadmin.key, admins.owner.id, "resend-invitation"))).toBe(200)
          const mails = (yield* Mails.waiting(id)).filter(({ kind }) => kind === "invitation")
          expect(mails.map(({ text }) => /role\s+owner[^]*\/console\/invitation\?/.test(text))).toEqual([true])
        }))

      it.effect("are changed by those who may: nobody lessens the owner or themselves, and the owner alone superadmins", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* confirming
          const other = yield* World.makePerson(id, "superadmin")
          const { admin, owner, superadmin } = admins
          for (const one of ["role", "disable", "remove"] as const) {
            const ask = (key: Key, target: string) =>
              one === "role"
                ? setRole(key, target, "admin")
                : one === "disable"
                ? act(key, target, one)
                : remove(key, target)
            expect(code(yield* ask(superadmin.key, owner.id))).toBe("admin_protected")
            expect(code(yield* ask(owner.key, owner.id))).toBe("admin_protected")
            expect(code(yield* ask(superadmin.key, superadmin.id))).toBe("admin_protected")
            expect(code(yield* ask(superadmin.key, other.id))).toBe("owner_required")
          }
          expect(code(yield* setRole(superadmin.key, admin.id, "superadmin"))).toBe("owner_required")
          expect(code(yield* setRole(owner.key, admin.id, "superadmin"))).toBe(200)
          expect(code(yield* act(owner.key, superadmin.id, "disable"))).toBe(200)
          expect(code(yield* World.get("/v1/organization", superadmin.key))).toBe("invalid_api_key")
          expect(code(yield* act(owner.key, superadmin.id, "disable"))).toBe("not_enabled")
          expect(code(yield* act(other.key, superadmin.id, "enable"))).toBe("owner_required")
          expect(code(yield* act(owner.key, superadmin.id, "enable"))).toBe(200)
          expect(code(yield* act(owner.key, superadmin.id, "enable"))).toBe("not_disabled")
          expect(code(yield* World.get("/v1/organization", superadmin.key))).toBe(200)
        }))

      it.effect("reach what they are granted, instead of what was granted before", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* confirming
          const [one, two] = [yield* World.makeAccount(id), yield* World.makeAccount(id)]
          const department = yield* World.makeDepartment(id)
          const key = admins.superadmin.key
          const granted = yield* grant(key, admins.admin.id, [one, one, two], [department])
          expect(granted.body.access).toMatchObject({ account_ids: [one, two].sort(), department_ids: [department] })
          expect((yield* World.get("/v1/accounts", admins.admin.key)).body.data.length).toBe(2)
          expect(code(yield* grant(key, admins.admin.id, [two]))).toBe(200)
          expect((yield* World.get(`/v1/accounts/${one}`, admins.admin.key)).status).toBe(404)
          expect(code(yield* grant(key, admins.admin.id, [two]))).toBe(200)
          expect(code(yield* grant(key, admins.billing.id, []))).toBe("access_not_applicable")
          yield* setRole(key, admins.admin.id, "billing")
          const kept = yield* setRole(key, admins.admin.id, "archive")
          expect(kept.body.access).toMatchObject({ account_ids: [two], archive: true })
          const events = yield* World.journal(id)
          expect(events.map(({ action, details }) => [action, details["added"], details["taken"]])).toEqual([
            ["admin.access_set", 3, 0],
            ["admin.access_set", 0, 2],
            ["admin.role_set", undefined, undefined],
            ["admin.role_set", undefined, undefined]
          ])
        }))

      it.effect("are removed with their grants and credentials, found nowhere, and may be invited again", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const person = yield* World.makePerson(id, "admin", { email: "gone@example.com" })
          yield* World.grant(id, person.id, { accounts: [yield* World.makeAccount(id)] })
          yield* Limited.connect(id, person, { accounts: [] })
          const removed = yield* remove(admins.superadmin.key, person.id)
          expect(removed.body).toEqual({ object: "admin", id: person.id, deleted: true, credentials_revoked: 2 })
          expect(code(yield* World.get("/v1/organization", person.key))).toBe("invalid_api_key")
          for (const what of ["disable", "enable", "resend-invitation"]) {
            expect(code(yield* act(admins.owner.key, person.id, what))).toBe("resource_missing")
          }
          expect(code(yield* remove(admins.owner.key, person.id))).toBe("resource_missing")
          expect(code(yield* World.get(`/v1/admins/${person.id}`, admins.owner.key))).toBe("resource_missing")
          expect((yield* World.get("/v1/admins", admins.owner.key)).body.data.length).toBe(5)
          const again = yield* invite(admins.owner.key, { email: "Gone@example.com", role: "admin" })
          expect(again.body).toMatchObject({ status: "invited", access: { account_ids: [] } })
        }))

      it.effect("S5.2-15: a limited credential gives nobody what lies beyond its limit, and keeps what it does not see", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* confirming
          const inside = yield* World.makeDepartment(id)
          const [mine, other] = [
            yield* World.makeAccount(id, { facts: { department_id: inside } }),
            yield* World.makeAccount(id)
          ]
          yield* World.grant(id, admins.admin.id, { accounts: [other] })
          const { call } = yield* Limited.connect(id, admins.owner, { departments: [inside] })
          const admin_id = admins.admin.id
          const ask = (...args: Parameters<typeof call>) => Effect.map(call(...args), (answer) => answer.code)
          const access = (account_ids: ReadonlyArray<string>, archive?: boolean) => ({
            admin_id,
            account_ids,
            department_ids: [],
            ...(archive === undefined ? {} : { archive, ...confirmed })
          })
          const person = (role: string, more = {}) => ({ email: `${role}@example.com`, role, ...more, ...confirmed })
          expect(yield* ask("invite_admin", person("billing"))).toBe("scope_exceeded")
          expect(yield* ask("invite_admin", person("superadmin"))).toBe("scope_exceeded")
          expect(yield* ask("invite_admin", person("admin", { access: { account_ids: [other] } }))).toBe(
            "scope_exceeded"
          )
          expect(yield* ask("invite_admin", person("admin", { access: { account_ids: [mine] } }))).toBe("done")
          expect(yield* ask("set_admin_role", { admin_id, role: "superadmin", ...confirmed })).toBe("scope_exceeded")
          expect(yield* ask("set_admin_role", { admin_id, role: "archive", ...confirmed })).toBe("scope_exceeded")
          expect(yield* ask("set_admin_access", access([other]))).toBe("scope_exceeded")
          expect(yield* ask("set_admin_access", access([mine], true))).toBe("scope_exceeded")
          const set = yield* call("set_admin_access", access([mine]))
          expect(set.body.access.account_ids).toEqual([mine])
          const whole = yield* World.get(`/v1/admins/${admin_id}`, admins.owner.key)
          expect(whole.body.access.account_ids).toEqual([mine, other].sort())
          expect(yield* ask("disable_admin", { admin_id })).toBe("done")
          expect(yield* ask("enable_admin", { admin_id })).toBe("scope_exceeded")
          expect(yield* ask("transfer_ownership", { admin_id, current_password: "x" })).toBe("role_forbidden")
          expect(yield* ask("remove_admin", { admin_id })).toBe("done")
        }))

      it.effect("S4.16-05: an owner who has handed the ownership over by the password gets the answer again by the same key, and by it alone", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          for (const { id: admin } of [admins.owner, admins.superadmin]) yield* Pages.givePassword(id, admin)
          const body = { admin_id: admins.superadmin.id, current_password: Pages.password }
          const ask = (key: Key, name: string | null, sent: object = body) =>
            World.send("POST", "/v1/organization/ownership", {
              key,
              body: sent,
              headers: name === null ? {} : { "idempotency-key": name }
            })
          expect(code(yield* ask(admins.owner.key, null, { admin_id: body.admin_id }))).toBe("parameter_invalid")
          expect(code(yield* ask(admins.owner.key, null, { ...body, current_password: "x" }))).toBe(
            "password_incorrect"
          )
          const done = yield* ask(admins.owner.key, "one")
          const again = yield* ask(admins.owner.key, "one")
          expect([again.status, again.headers.get("idempotent-replayed"), again.body]).toEqual([200, "true", done.body])
          // Everything else is refused as it is to every superadmin, whatever is sent.
          for (const name of [null, "two", " "]) {
            expect(code(yield* ask(admins.owner.key, name))).toBe("owner_required")
            expect(code(yield* ask(admins.owner.key, name, { admin_id: 1 }))).toBe("owner_required")
          }
          const other = yield* World.makePerson(id, "superadmin")
          expect(code(yield* ask(other.key, "one"))).toBe("owner_required")
          yield* TestClock.adjust("24 hours")
          expect(code(yield* ask(admins.owner.key, "one"))).toBe("owner_required")
        }))
    })
  })
})
