import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as crypto from "node:crypto"
import * as Mcp from "../../../mcp/support.ts"
import * as Pages from "../../../support/http/pages.ts"
import { delivered, linkIn } from "../../../support/mail/delivered.ts"
import { act as operate } from "../../../support/operator/operator.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"

const path = "/console/people"
const chosen = "seven green lanterns hum"

/** An organization whose owner is signed in, with a department and two accounts outside it. */
const staged = Effect.gen(function*() {
  const { admins, id } = yield* World.makeOrganization()
  const department = yield* World.makeDepartment(id, "Sales")
  const first = yield* World.makeAccount(id, { first_name: "Ada", last_name: "Lovelace" })
  const second = yield* World.makeAccount(id, { first_name: "Grace", last_name: "Hopper" })
  const cookie = yield* Pages.signIn(id, admins.owner.id)
  return { admins, id, department, first, second, cookie }
})

/** Sends the form that leads to `action`, as it stands on the page at `at`, with what is typed. */
const send = Effect.fnUntraced(function*(
  cookie: string,
  at: string,
  action: string,
  typed: Pages.Visiting["form"] = {},
  text = ""
) {
  const form = Pages.formOf(yield* Pages.visit("GET", at, { cookie }), action, text)
  return yield* Pages.visit("POST", form.action, { cookie, form: { ...form.hidden, decision: "do", ...typed } })
})

/** Does what a form of an admin's page does, with the console password. */
const act = (cookie: string, id: string, verb: string, typed: Pages.Visiting["form"] = {}) =>
  send(cookie, `${path}/${id}`, `${path}/${id}/${verb}`, { password: Pages.password, ...typed })

const shown = (cookie: string, at: string) => Effect.map(Pages.visit("GET", at, { cookie }), ({ text }) => text)

describe("people on the console's pages", () => {
  layer(World.world(postgres))((it) => {
    it.effect("a newcomer is invited, joins by the mail, sees what is granted, and gets the ownership; all is journaled", () =>
      Effect.gen(function*() {
        const { admins, cookie, department, first, id, second } = yield* staged
        const email = "nora@example.com"
        const departments = `${path}/departments/${department}`
        const file = (name: string, account: string) =>
          send(cookie, `${departments}?find=${name}`, `${departments}/file`, {}, account)
        expect((yield* file("Ada", first)).location).toBe(`${departments}?done=file&find=Ada`)
        const invited = yield* send(cookie, `${path}/invite`, `${path}/invite`, {
          decision: "invite",
          email,
          name: "Nora New",
          role: "admin",
          department,
          password: Pages.password
        })
        const person = /^\/console\/people\/([0-9a-f-]{36})\?done=invited$/.exec(invited.location ?? "")?.[1] ?? ""
        expect(yield* shown(cookie, `${path}/${person}`)).toContain("1 department")
        const mail = (yield* delivered).find(({ to }) => to[0] === email)
        const link = linkIn(mail?.text ?? "")
        const form = Pages.formOf(yield* Pages.visit("GET", link), "/console/invitation")
        const joined = yield* Pages.visit("POST", form.action, {
          form: { ...form.hidden, new: chosen, repeated: chosen }
        })
        const own = Pages.cookiesOf(joined)
        const made = yield* send(own, "/console/developer/api-keys/new", "/console/developer/api-keys", {
          label: "Report",
          scope: "org:read",
          expiry: "30"
        })
        const key = /<code class="secret"[^>]*>([^<]+)</.exec(made.text)?.[1] ?? ""
        const accounts = Effect.map(
          World.get("/v1/accounts", key),
          ({ body }) => body.data.map((account: { id: string }) => account.id)
        )
        expect(yield* accounts).toEqual([first])
        yield* file("Grace", second)
        expect((yield* accounts).toSorted()).toEqual([first, second].toSorted())
        yield* send(cookie, departments, `${departments}/take-out`, {}, first)
        expect(yield* accounts).toEqual([second])
        expect((yield* Pages.visit("GET", path, { cookie: own })).status).toBe(403)
        expect((yield* act(cookie, person, "role", { role: "superadmin" })).location).toBe(
          `${path}/${person}?done=role`
        )
        expect((yield* act(cookie, person, "ownership")).location).toBe(`${path}?done=owner`)
        expect(yield* shown(own, path)).toContain("Nora New")
        const { body } = yield* World.get("/v1/admins", key)
        expect(body.data.slice(0, 1)).toMatchObject([{ email, role: "owner", mine: true }])
        const events = (yield* World.journal(id)).filter(({ action }) => action !== "console.signed_in")
        expect(new Set(events.map(({ via }) => via))).toEqual(new Set(["console"]))
        expect(events.map(({ action }) => action)).toEqual([
          "account.department_set",
          "admin.invited",
          "admin.joined",
          "api_key.created",
          "account.department_set",
          "account.department_set",
          "admin.role_set",
          "ownership.transferred"
        ])
        expect(events.map(({ actor_admin_id }) => actor_admin_id === admins.owner.id)).toEqual(
          [true, true, false, false, true, true, true, true]
        )
      }))

    it.effect("the same is done by an assistant over MCP, from the operator's first command on", () =>
      Effect.gen(function*() {
        const id = `first-${crypto.randomUUID()}`
        const [olivia, nora] = [`olivia@${id}.example`, `nora@${id}.example`]
        yield* operate((requests) =>
          requests.organizations_create({
            id,
            name: "Acme",
            owner: olivia,
            plan: "governance",
            seats: 9,
            valid_until: null
          })
        )
        const owner = { organization: id, email: olivia }
        yield* operate((requests) => requests.admins_set_password({ ...owner, password: Redacted.make(chosen) }))
        const ada = yield* World.makeAccount(id, { first_name: "Ada" })
        const grace = yield* World.makeAccount(id, { first_name: "Grace" })
        const cookie = Pages.cookiesOf(yield* Pages.signInWith({ ...owner, password: chosen }))
        const keyOf = Effect.fnUntraced(function*(by: string, scope: ReadonlyArray<string>) {
          const made = yield* send(by, "/console/developer/api-keys/new", "/console/developer/api-keys", {
            label: "Assistant",
            scope,
            expiry: "30",
            password: chosen
          })
          return /<code class="secret"[^>]*>([^<]+)</.exec(made.text)?.[1] ?? ""
        })
        const call = (key: string) => (name: string, args: object = {}) =>
          Effect.map(Effect.map(Mcp.call(name, args, { key }), Mcp.resultOf), ({ body }) => body)
        const ownersKey = yield* keyOf(cookie, ["org:read", "accounts:write", "admins:write"])
        const hers = call(ownersKey)
        const department = yield* hers("create_department", { name: "Sales" })
        yield* hers("set_account_department", { account_id: ada, department_id: department.id })
        const invited = yield* hers("invite_admin", { email: nora, role: "admin", name: "Nora New" })
        expect(invited).toMatchObject({ status: "invited", access: { account_ids: [], department_ids: [] } })
        const link = linkIn((yield* delivered).find(({ to }) => to[0] === nora)?.text ?? "")
        const form = Pages.formOf(yield* Pages.visit("GET", link), "/console/invitation")
        const joined = yield* Pages.visit("POST", form.action, {
          form: { ...form.hidden, new: chosen, repeated: chosen }
        })
        const theirs = call(yield* keyOf(Pages.cookiesOf(joined), ["org:read"]))
        const reached = Effect.map(theirs("list_protected_accounts"), ({ data }) => data.map((one: any) => one.id))
        expect(yield* reached).toEqual([])
        const access = { admin_id: invited.id, account_ids: [grace], department_ids: [department.id] }
        yield* hers("set_admin_access", { ...access, archive: false })
        expect((yield* reached).toSorted()).toEqual([ada, grace].toSorted())
        expect(yield* theirs("get_admin", { admin_id: invited.id })).toMatchObject({ mine: true, role: "admin" })
        // The password comes from the person, not from the assistant.
        const confirmed = (name: string, args: object) =>
          Effect.map(
            Mcp.ask("tools/call", {
              name,
              arguments: { admin_id: invited.id, ...args },
              ...Mcp.eliciting,
              inputResponses: { current_password: { action: "accept", content: { current_password: chosen } } }
            }, { key: ownersKey }),
            (answer) => Mcp.resultOf(answer).how
          )
        expect(yield* hers("set_admin_role", { admin_id: invited.id, role: "superadmin" })).toMatchObject({
          error: { code: "console_page_required" }
        })
        expect(yield* confirmed("set_admin_role", { role: "superadmin" })).toBe("done")
        expect(yield* confirmed("transfer_ownership", {})).toBe("done")
        expect((yield* theirs("list_admins")).data).toMatchObject([
          { email: nora, role: "owner" },
          { email: olivia, role: "superadmin" }
        ])
        const { data: events } = yield* theirs("list_journal_events", { limit: 100 })
        expect(events.toReversed().map(({ action, via }: any) => `${action} ${via}`)).toEqual([
          "organization.created cli",
          "admin.password_set cli",
          "console.signed_in console",
          "api_key.created console",
          "department.created mcp",
          "account.department_set mcp",
          "admin.invited mcp",
          "admin.joined console",
          "console.signed_in console",
          "api_key.created console",
          "admin.access_set mcp",
          "admin.role_set mcp",
          "ownership.transferred mcp"
        ])
      }))

    it.effect("admins are disabled, enabled, granted, invited again and removed, each refusal in plain words", () =>
      Effect.gen(function*() {
        const { admins, cookie, department, first, id } = yield* staged
        const person = yield* World.makePerson(id, "admin")
        const at = `${path}/${person.id}`
        const ways = ["role", "access", "enable", "remove"]
        const wrong = { password: "wrong horse battery" }
        yield* act(cookie, person.id, "disable")
        for (const way of ways) {
          const refused = yield* act(cookie, person.id, way, { ...wrong, role: "billing" })
          expect([refused.status, way, refused.text.includes("This is not your console password.")]).toEqual([
            403,
            way,
            true
          ])
        }
        expect((yield* act(cookie, person.id, "enable")).location).toBe(`${at}?done=enable`)
        const granted = yield* act(cookie, person.id, "access", { account: first, department, archive: "yes" })
        expect(granted.location).toBe(`${at}?done=access`)
        const { body } = yield* World.get(`/v1/admins/${person.id}`, admins.owner.key)
        expect(body.access).toMatchObject({ account_ids: [first], department_ids: [department], archive: true })
        const searched = yield* act(cookie, person.id, "access", { decision: "search", account: first })
        expect([searched.status, searched.text.match(/<input type="checkbox"[^>]* checked>/g)?.length]).toEqual([
          200,
          1
        ])
        const used = yield* send(
          cookie,
          `${path}/departments/${department}`,
          `${path}/departments/${department}/delete`
        )
        expect([used.status, used.text.includes("This department is in use")]).toEqual([409, true])
        const invite = (typed: Readonly<Record<string, string>>) =>
          send(cookie, `${path}/invite`, `${path}/invite`, {
            decision: "invite",
            password: Pages.password,
            role: "billing",
            ...typed
          })
        const faults: ReadonlyArray<readonly [Readonly<Record<string, string>>, number, string]> = [
          [{ email: "nobody" }, 400, "Enter an address such as"],
          [{ email: yield* Pages.emailOf(id, person.id) }, 409, "is an admin already"],
          [{ email: "x@example.com", role: "owner" }, 400, "Choose a role."],
          [{ email: "x@example.com", name: "a\nb" }, 400, "Give a name on one line"]
        ]
        for (const [typed, status, text] of faults) {
          const page = yield* invite(typed)
          expect([page.status, page.text.includes(text)]).toEqual([status, true])
        }
        const waits = (yield* invite({ email: "waits@example.com" })).location?.split("?", 1)[0] ?? ""
        expect((yield* act(cookie, waits.slice(path.length + 1), "resend-invitation")).status).toBe(303)
        expect((yield* act(cookie, person.id, "remove")).location).toBe(`${path}?done=removed`)
        expect((yield* Pages.visit("GET", at, { cookie })).status).toBe(404)
        expect((yield* Pages.visit("GET", `${path}/x`, { cookie })).status).toBe(404)
        const made = yield* send(cookie, `${path}/departments`, `${path}/departments`, { name: "Legal" })
        const legal = made.location?.split("?", 1)[0] ?? ""
        expect((yield* send(cookie, legal, `${legal}/rename`, { name: "sales" })).text).toContain(
          "of this name already"
        )
        expect((yield* send(cookie, legal, `${legal}/rename`, { name: "Law" })).location).toBe(`${legal}?done=rename`)
        expect((yield* send(cookie, legal, `${legal}/delete`)).location).toBe(`${path}/departments?done=deleted`)
        // A superadmin is offered nothing about superadmins, and what is forged is refused.
        const other = yield* World.makePerson(id, "superadmin")
        const own = yield* Pages.signIn(id, admins.superadmin.id)
        const page = yield* Pages.visit("GET", `${path}/${other.id}`, { cookie: own })
        expect(page.text).toContain("Only the owner may do this to a superadmin.")
        expect(page.text).not.toContain(`${path}/${other.id}/`)
        expect(yield* shown(own, `${path}/invite`)).not.toContain("role-superadmin")
      }))

    it.effect("forms of another admin, another act or another session do nothing, nor does who is demoted meanwhile", () =>
      Effect.gen(function*() {
        const { admins, cookie, id } = yield* staged
        const [one, two] = [yield* World.makePerson(id, "admin"), yield* World.makePerson(id, "admin")]
        const own = yield* Pages.signIn(id, admins.superadmin.id)
        const form = Pages.formOf(
          yield* Pages.visit("GET", `${path}/${one.id}`, { cookie: own }),
          `${path}/${one.id}/disable`
        )
        const forged = [
          [`${path}/${two.id}/disable`, own],
          [`${path}/${one.id}/remove`, own],
          [`${path}/${one.id}/disable`, cookie]
        ] as const
        for (const [action, session] of forged) {
          const page = yield* Pages.visit("POST", action, {
            cookie: session,
            form: { ...form.hidden, decision: "do", password: Pages.password }
          })
          expect([action, page.status]).toEqual([action, 403])
        }
        yield* World.set(id, "admin", admins.superadmin.id, { role: "billing" })
        const demoted = yield* Pages.visit("POST", form.action, {
          cookie: own,
          form: { ...form.hidden, decision: "do" }
        })
        expect(demoted.status >= 400).toBe(true)
        expect(yield* World.changes(id)).toEqual([])
        for (const at of ["", "/invite", `/${one.id}`, "/departments"]) {
          expect((yield* Pages.visit("GET", `${path}${at}`, { cookie: own })).status).toBe(403)
          expect((yield* Pages.visit("GET", `${path}${at}`)).status).toBe(303)
        }
      }))

    it.effect("lists go on page by page, by role and state, and show names as text", () =>
      Effect.gen(function*() {
        const { admins, cookie, id } = yield* staged
        yield* World.set(id, "admin", admins.billing.id, { name: "<b>Bill</b>" })
        yield* Effect.forEach(Array.from({ length: 55 }), () => World.makePerson(id, "archive"))
        const first = yield* shown(cookie, path)
        const rows = (text: string) => [...text.matchAll(/people\/([0-9a-f-]{36})"/g)].map(([, each]) => each)
        const next = /href="([^"]*after=[^"]*)"/.exec(first)?.[1]?.replaceAll("&amp;", "&") ?? ""
        const second = yield* shown(cookie, next)
        expect(new Set([...rows(first), ...rows(second)]).size).toBe(55 + Object.keys(admins).length)
        const found = yield* shown(cookie, `${path}?role=billing&status=active`)
        expect(rows(found)).toEqual([admins.billing.id])
        expect(found).toContain("&lt;b&gt;Bill&lt;/b&gt;")
        expect(found).not.toContain("<script")
        expect(yield* shown(cookie, `${path}?role=billing&status=invited`)).toContain("No admin is of this role")
      }))
  })
})
