import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { shown } from "../../../../src/domain/logins/PhoneNumber.ts"
import type { Role } from "../../../../src/domain/people/Access.ts"
import * as Pages from "../../../support/http/pages.ts"
import * as Leaks from "../../../support/leaks.ts"
import * as Logins from "../../../support/logins/logins.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"

const connect = "/console/accounts/connect"
const password = "horse staple of its own"

const staged = Effect.fnUntraced(function*(role: Role = "owner") {
  const stage = yield* Logins.staged()
  const cookie = yield* Pages.signIn(stage.id, stage.admins[role].id)
  const see = (path: string) => Pages.visit("GET", path, { cookie })
  const send = (page: Pages.Page, action: string, form: Record<string, string> = {}) =>
    Pages.visit("POST", action, { cookie, form: { ...Pages.formOf(page, action).hidden, ...form } })
  /** Sends the number, and answers the address of its login. */
  const begin = (phone_number: string, more: Record<string, string> = {}) =>
    Effect.flatMap(see(connect), (page) => send(page, connect, { phone_number, ...more }))
  return { ...stage, begin, cookie, see, send }
})

describe("15.3 connecting an account at the console", () => {
  layer(World.world(postgres))((it) => {
    it.effect("a number, the code and the holder's password connect it; what was typed is nowhere afterwards", () => {
      const sinks = Leaks.makeSinks()
      return Effect.gen(function*() {
        const { begin, id, see, send } = yield* staged()
        const department = yield* World.makeDepartment(id, "Sales")
        const person = yield* Logins.meet({
          first_name: "Grace",
          security: { two_fa_password: Redacted.make(password), two_fa_hint: "<b>my</b>\u202e dog" }
        })
        expect((yield* see("/console/accounts")).text).toContain(`href="${connect}"`)
        const begun = yield* begin(
          `${person.phone.slice(0, 5)} (${person.phone.slice(5, 8)}) ${person.phone.slice(8)}`,
          {
            department_id: department,
            role_label: " Pilot "
          }
        )
        const own = begun.location!
        expect([begun.status, own]).toEqual([303, expect.stringMatching(/^\/console\/logins\/[0-9a-f-]{36}$/)])
        const page = yield* see(own)
        expect(page.text).toContain(`<a href="/console/accounts" aria-current="true">Accounts</a>`)
        for (
          const text of [
            shown(person.phone),
            "5 entries are left",
            "autocomplete=\"one-time-code\"",
            "Another code can be sent"
          ]
        ) {
          expect(page.text).toContain(text)
        }
        const code = yield* person.code
        const typed = ["zz-wrong-1", "no code!"]
        const wrong = yield* send(page, `${own}/code`, { code: typed[0]! })
        expect([wrong.status, wrong.text.includes("The code is wrong."), wrong.text.includes("4 entries are left")])
          .toEqual([400, true, true])
        const malformed = yield* send(wrong, `${own}/code`, { code: typed[1]! })
        expect([malformed.status, malformed.text.includes("Enter the code as the messenger sent it")]).toEqual([
          400,
          true
        ])
        // The token of one step is none of another, nor of another login.
        const resent = { ...Pages.formOf(page, `${own}/cancel`).hidden }
        expect((yield* send(page, `${own}/code`, { code, csrf: resent["csrf"]! })).status).toBe(403)
        const stepped = yield* send(malformed, `${own}/code`, { code: ` ${code.slice(0, 2)} ${code.slice(2)}` })
        expect([stepped.status, stepped.location]).toEqual([303, own])
        const asked = yield* see(own)
        expect(asked.text).toContain("<q class=\"claim\" dir=\"auto\">&lt;b&gt;my&lt;/b&gt; dog</q>")
        const stale = yield* send(page, `${own}/code`, { code })
        expect([stale.status, stale.text.includes("Somebody was faster")]).toEqual([409, true])
        const refused = yield* send(asked, `${own}/password`, { password: "not-the-holders-9" })
        expect([refused.status, refused.text.includes("The 2FA password is wrong.")]).toEqual([400, true])
        expect(refused.text).toContain("3 entries are left")
        const done = yield* send(refused, `${own}/password`, { password })
        expect([done.status, done.location]).toEqual([
          303,
          expect.stringMatching(/^\/console\/accounts\/[0-9a-f-]{36}\?done=account_connected$/)
        ])
        const account = yield* see(done.location!)
        for (const text of ["The account is connected", "Grace", "value=\"Pilot\"", "selected>Sales"]) {
          expect(account.text).toContain(text)
        }
        expect((yield* see(own)).location).toBe(done.location)
        const events = yield* World.changes(id)
        expect(events.map(({ action, via }) => [action, via])).toEqual([
          ["login.started", "console"],
          ["login.completed", "console"],
          ["account.connected", "console"]
        ])
        const secrets = { password, wrong: typed[0]!, malformed: typed[1]!, guess: "not-the-holders-9" }
        const pages = [wrong, malformed, stepped, asked, stale, refused, done, account].map(({ text }) => text).join(
          "\n"
        )
        const rows = [...(yield* Leaks.dump(id))].filter(([table]) => !table.startsWith("simulated_"))
        for (const text of [pages, sinks.log(), sinks.trace(), ...rows.map(([, text]) => text)]) {
          expect(Leaks.found(text, secrets)).toEqual([])
        }
      }).pipe(Effect.provide(sinks.layer))
    })

    it.effect("what is refused is shown at its field or on the page, and the draft stays", () =>
      Effect.gen(function*() {
        const { begin, connected, see, send } = yield* staged()
        const known = yield* Logins.meet()
        yield* connected(known)
        for (
          const [number, status, text] of [
            ["12 34", 400, "Enter the number with its country code"],
            ["+4900000000", 400, "The messenger has no account"],
            [known.phone, 409, "This organization protects this account already"]
          ] as const
        ) {
          const page = yield* begin(number, { role_label: "<i>Kept" })
          expect([number, page.status]).toEqual([number, status])
          for (const part of [text, `value="${number}"`, "value=\"&lt;i&gt;Kept\"", "Problem:"]) {
            expect(page.text).toContain(part)
          }
        }
        const foreign = yield* begin("+49155501234", { department_id: "0197f3a0-0000-7000-8000-000000000000" })
        expect([foreign.status, foreign.text.includes("Choose a department")]).toEqual([404, true])

        const person = yield* Logins.meet()
        const own = (yield* begin(person.phone)).location!
        expect((yield* begin(person.phone)).location).toBe(own)
        yield* TestClock.adjust("2 minutes")
        const again = yield* send(yield* see(own), `${own}/resend`)
        expect([again.status, again.location]).toEqual([303, own])
        let page = yield* see(own)
        for (let count = 0; count < 4; count++) page = yield* send(page, `${own}/code`, { code: "000-000" })
        expect(page.text).toContain("1 entry is left")
        page = yield* send(page, `${own}/code`, { code: "000-000" })
        for (const text of ["This login has failed", "Too many wrong entries", `href="${connect}"`]) {
          expect(page.text).toContain(text)
        }
        expect(page.text).not.toContain("name=\"code\"")

        const other = (yield* begin((yield* Logins.meet()).phone)).location!
        const open = yield* see(other)
        expect((yield* send(open, `${other}/cancel`)).location).toBe(other)
        expect((yield* see(other)).text).toContain("This login is cancelled")
        const late = yield* send(open, `${other}/code`, { code: "123456" })
        expect([late.status, late.text.includes("Somebody was faster")]).toEqual([409, true])
      }))

    it.effect("a lost session is signed in to again from the account's page", () =>
      Effect.gen(function*() {
        const { connected, id, platform, see, send } = yield* staged()
        const person = yield* Logins.meet()
        const { body: { account_id } } = yield* connected(person)
        const own = `/console/accounts/${account_id}`
        const watched = yield* see(own)
        expect(watched.text).not.toContain(`${own}/reconnect`)
        yield* platform.revokeService(person.userId)
        yield* World.set(id, "account", account_id, {
          monitoring_state: "stopped",
          stopped_at: new Date(Logins.start),
          stop_reason: "session_lost"
        })
        const page = yield* see(own)
        const refused = yield* send(page, `${own}/reconnect`, { phone_number: "none" })
        expect([refused.status, refused.text.includes("This was not done")]).toEqual([400, true])
        const begun = yield* send(page, `${own}/reconnect`)
        const login = begun.location!
        const code = yield* person.code
        const done = yield* send(yield* see(login), `${login}/code`, { code })
        expect(done.location).toBe(`${own}?done=account_reconnected`)
        expect((yield* see(done.location!)).text).toContain("The account is connected again.")
      }))

    it.effect("a login whose page was closed is found again by those who may continue it, until it ends", () =>
      Effect.gen(function*() {
        const { account, admins, begin, connected, id, relogin, see } = yield* staged("admin")
        const department = yield* World.makeDepartment(id, "Sales")
        yield* World.grant(id, admins.admin.id, { departments: [department] })
        const people = yield* Effect.all([Logins.meet(), Logins.meet(), Logins.meet()])
        const [mine, theirs, known] = people
        const cookies = {
          owner: yield* Pages.signIn(id, admins.owner.id),
          billing: yield* Pages.signIn(id, admins.billing.id)
        }
        const pages = ["/console/accounts", connect]
        const shown = Effect.fnUntraced(function*(who?: keyof typeof cookies) {
          const texts = yield* Effect.forEach(
            pages,
            (path) => who === undefined ? see(path) : Pages.visit("GET", path, { cookie: cookies[who] })
          )
          return texts.map(({ text }) =>
            [...text.matchAll(/href="(\/console\/logins\/[^"]+)"/g)].map(([, path]) => path)
          )
        })
        expect(yield* shown()).toEqual([[], []])
        const own = (yield* begin(mine.phone, { department_id: department })).location!
        expect(yield* shown()).toEqual([[own], [own]])
        const page = yield* see(connect)
        for (const text of ["1 login is not finished", "Waits for the code, started by you", "in 10 minutes"]) {
          expect(page.text).toContain(text)
        }
        const owner = Logins.actor(admins.owner.key)
        const begun = yield* owner.connect(theirs.phone)
        const others = `/console/logins/${begun.body.id}`
        expect(yield* shown()).toEqual([[own], [own]])
        // One into an account that the admin cannot access is none of theirs either.
        const { body: { account_id } } = yield* connected(known)
        yield* World.grant(id, admins.admin.id, { accounts: [account_id] })
        expect((yield* account(account_id)).id).toBe(account_id)
        yield* World.set(id, "account", account_id, { monitoring_state: "unknown" })
        const again = yield* Logins.actor(admins.admin.key).relogin(account_id)
        expect([again.status, (yield* relogin(account_id)).status]).toEqual([200, 409])
        const into = `/console/logins/${again.body.id}`
        expect((yield* shown())[1]?.toSorted()).toEqual([own, into].toSorted())
        yield* World.query(
          id,
          (sql) => sql`delete from admin_account where organization_id = ${id} and admin_id = ${admins.admin.id}`
        )
        expect(yield* shown()).toEqual([[own], [own]])
        expect((yield* shown("owner"))[1]?.toSorted()).toEqual([own, others, into].toSorted())
        expect((yield* Pages.visit("GET", connect, { cookie: cookies.owner })).text)
          .toContain("started by another admin")
        expect(yield* shown("billing")).toEqual([[], []])
        expect((yield* owner.cancel(begun.body.id)).status).toBe(200)
        expect((yield* shown("owner"))[1]?.toSorted()).toEqual([own, into].toSorted())
        yield* TestClock.adjust("10 minutes")
        expect([yield* shown(), yield* shown("owner")]).toEqual([[[], []], [[], []]])
      }))

    it.effect("a role that protects no accounts is told so, and an admin sees no login of somebody else's", () =>
      Effect.gen(function*() {
        const { admins, begin, id } = yield* staged()
        const own = (yield* begin((yield* Logins.meet()).phone)).location!
        const billing = yield* Pages.signIn(id, admins.billing.id)
        const list = yield* Pages.visit("GET", "/console/accounts", { cookie: billing })
        expect(list.text).not.toContain(connect)
        for (const path of [connect, own]) {
          expect((yield* Pages.visit("GET", path, { cookie: billing })).status).toBe(403)
        }
        const admin = yield* Pages.signIn(id, admins.admin.id)
        for (const path of [own, "/console/logins/x"]) {
          expect((yield* Pages.visit("GET", path, { cookie: admin })).status).toBe(404)
        }
        expect((yield* Pages.visit("GET", connect, { cookie: admin })).status).toBe(200)
        expect((yield* Pages.visit("GET", own)).location).toBe(`/console/sign-in?return_to=${encodeURIComponent(own)}`)
      }))
  })
})
