import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { maxSupportMessageLength, supportRequestsPerDay } from "../../../../src/domain/Limits.ts"
import { everyone, type Role } from "../../../../src/domain/people/Access.ts"
import { BillingPages } from "../../../../src/ports/organization/StatusOverview.ts"
import { makeCleanup, makeHold } from "../../../support/archive/cleanups.ts"
import * as Pages from "../../../support/http/pages.ts"
import { act as operate } from "../../../support/operator/operator.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as Factors from "../../../support/signin/factors.ts"
import * as World from "../../../support/world.ts"

const path = "/console/organization"

const stage = Effect.fnUntraced(function*(role: Role = "owner", facts: Record<string, unknown> = {}) {
  const { admins, id } = yield* World.makeOrganization(facts)
  const cookie = yield* Pages.signIn(id, admins[role].id)
  const see = (to: string) => Pages.visit("GET", to, { cookie })
  /** Sends the form that leads to `action`, as it stands on the page at `at`. */
  const send = Effect.fnUntraced(function*(at: string, action: string, form: Record<string, string> = {}) {
    const { hidden } = Pages.formOf(yield* see(at), action)
    return yield* Pages.visit("POST", action, { cookie, form: { ...hidden, ...form } })
  })
  return { admins, cookie, id, see, send }
})

const actions = (id: string) => Effect.map(World.changes(id), (events) => events.map(({ action }) => action))

const mails = `${path}/mails`

describe("the pages of the organization", () => {
  layer(World.world(postgres))((it) => {
    it.effect("the owner reads its state, and turns the takeover lockdown off and on", () =>
      Effect.gen(function*() {
        const { admins, id, see, send } = yield* stage("owner", { tamper_lockdown_enabled: true, name: "Acme <b>" })
        const { text } = yield* see(path)
        for (const part of ["Acme &lt;b&gt;", id, "Licensed", "Governance", "0 of 100 used, 100 free", "Empty"]) {
          expect(text).toContain(part)
        }
        expect(text).toContain("its other sessions are signed out")
        const action = `${path}/takeover-lockdown`
        const off = yield* send(path, action)
        expect([off.status, off.location]).toEqual([303, `${path}?done=off`])
        const after = yield* see(off.location!)
        expect(after.text).toContain("takeovers are only reported")
        expect(after.text).toContain("nothing is signed out because of it")
        expect((yield* World.get("/v1/organization", admins.owner.key)).body.tamper_lockdown_enabled).toBe(false)
        expect((yield* send(path, action)).location).toBe(`${path}?done=on`)
        expect(yield* actions(id)).toEqual(["takeover_lockdown.set", "takeover_lockdown.set"])
      }))

    it.effect("the lockdown needs the second factor of an admin who has one, and a form's own token", () =>
      Effect.gen(function*() {
        const { admins, cookie, id, see } = yield* stage()
        const action = `${path}/takeover-lockdown`
        const { hidden } = Pages.formOf(yield* see(path), action)
        const turned = yield* Pages.visit("POST", action, { cookie, form: { ...hidden, enabled: "no" } })
        expect(turned.status).toBe(403)
        yield* Pages.givePassword(id, admins.superadmin.id)
        yield* Factors.giveTotp(id, admins.superadmin.id)
        const email = yield* Pages.emailOf(id, admins.superadmin.id)
        const signed = yield* Factors.answer(yield* Factors.begin(id, email), yield* Factors.code())
        const own = Pages.cookiesOf(signed)
        yield* TestClock.adjust("11 minutes")
        const page = yield* Pages.visit("GET", path, { cookie: own })
        expect(page.text).toContain("Changing the lockdown needs your second factor.")
        const refused = yield* Pages.visit("POST", action, { cookie: own, form: Pages.formOf(page, action).hidden })
        expect([refused.status, refused.text.includes("This needs your second factor")]).toEqual([403, true])
        expect(yield* actions(id)).toEqual([])
      }))

    it.effect("an admin of another role reads, and is offered no change of the organization", () =>
      Effect.gen(function*() {
        for (const role of everyone.filter((each) => each !== "owner" && each !== "superadmin")) {
          const { cookie, see, id } = yield* stage(role)
          const overview = yield* see(path)
          expect([role, overview.status, overview.text.includes("<form method=\"post\" action=\"/console/org")])
            .toEqual([role, 200, false])
          const page = yield* see(mails)
          expect([role, page.status, page.text.includes(`${mails}/recipients`)]).toEqual([role, 200, false])
          expect(page.text).toContain("do not go to your role")
          const { hidden } = Pages.formOf(page, `${mails}/preferences`)
          const forged = yield* Pages.visit("POST", `${mails}/recipients`, {
            cookie,
            form: { ...hidden, recipients: "owner" }
          })
          expect([role, forged.status]).toEqual([role, 403])
          expect(yield* actions(id)).toEqual([])
        }
      }))

    it.effect("an admin of each role reads how it is run: who deletes from the archive also its retention and its holds", () =>
      Effect.gen(function*() {
        for (const role of everyone) {
          const { id, see } = yield* stage(role, { archive_first_record_at: new Date(0) })
          yield* makeHold(id, { released: null })
          const { text } = yield* see(path)
          const rooms = text.slice(text.indexOf("How it is run")).split("</section>", 1)[0] ?? ""
          const own = ["Subscription", "Who is notified", "Support"]
          const archives = role === "owner" || role === "superadmin" ? ["Retention", "Legal holds"] : []
          const named = [...rooms.matchAll(/<dt><a href="[^"]+">([^<]+)</g)].map(([, title]) => title)
          expect([role, named]).toEqual([role, [...own, ...archives]])
          expect([role, rooms.includes("1 hold keeps")]).toEqual([role, archives.length > 0])
          expect(rooms).toContain("Nothing was asked yet.")
        }
      }))

    it.effect("the first page says of an archive that it lacked messages, ends, and will be deleted from, to those whom it concerns", () =>
      Effect.gen(function*() {
        const found = Effect.fnUntraced(function*(role: Role) {
          const { admins, id, see } = yield* stage(role, { archive_first_record_at: new Date(0) })
          const account = yield* World.makeAccount(id, { facts: { archive_drift: 2 } })
          yield* World.grant(id, admins[role].id, { accounts: [account] })
          yield* World.send("PUT", "/v1/archive/retention", { key: admins.owner.key, body: { days: 90 } })
          const cleanup = yield* makeCleanup(id, [account], "failed")
          yield* World.query<object>(
            id,
            (sql) =>
              sql`update archive_cleanup set finished_at = ${new Date(0)}, error = 'archive_held' where id = ${cleanup}`
          )
          yield* World.query<object>(
            id,
            (sql) => sql`update journal_head set checked_ok = false where organization_id = ${id}`
          )
          yield* operate((requests) =>
            requests.organizations_set({
              organization: id,
              name: null,
              plan: "protect",
              seats: null,
              valid_until: null,
              open_ended: false
            })
          )
          const { text } = yield* see("/console")
          return [...text.matchAll(/<h3>([^<]+)<\/h3>/g)].map(([, title]) => title)
        })
        const everybody = [
          "The journal&#39;s chain is broken",
          "Nothing more is archived, and the archive will be closed"
        ]
        const reading = [...everybody, "2 messages were missing that counted as archived"]
        const deleting = [
          ...reading,
          "Old messages will be deleted from the archive",
          "A legal hold stopped 1 cleanup of the archive"
        ]
        const titles = { owner: deleting, superadmin: deleting, archive: reading, admin: everybody, billing: everybody }
        for (const role of everyone) expect([role, yield* found(role)]).toEqual([role, titles[role]])
      }))

    it.effect("an owner whom nobody would mail about a takeover is led to where that is changed, and changes it", () =>
      Effect.gen(function*() {
        const { admins, id, see, send } = yield* stage("owner", { notification_recipients: "owner_superadmins" })
        const warned = Effect.map(see("/console/accounts"), ({ text }) => text.includes("Nobody would get a mail"))
        expect(yield* warned).toBe(false)
        const narrowed = yield* send(mails, `${mails}/recipients`, { recipients: "owner" })
        expect([narrowed.status, narrowed.location]).toEqual([303, `${mails}?done=recipients`])
        const chosen = yield* send(mails, `${mails}/preferences`, { news: "yes" })
        expect([chosen.status, chosen.location]).toEqual([303, `${mails}?done=preferences`])
        const accounts = yield* see("/console/accounts")
        expect(accounts.text).toContain(
          `Nobody would get a mail about a takeover: no recipient wants it. <a href="${mails}">Who gets mails</a>`
        )
        const page = yield* see(mails)
        expect(page.text).toContain("Nobody would get a mail about a takeover")
        expect([...page.text.matchAll(/name="(\w+)" value="\w+" checked/g)].map(([, name]) => name)).toEqual([
          "news",
          "recipients"
        ])
        expect((yield* World.get("/v1/me/mail-preferences", admins.owner.key)).body.choices).toEqual({
          security: false,
          storage: false,
          news: true,
          offers: false
        })
        yield* send(mails, `${mails}/preferences`, { security: "yes", news: "yes" })
        expect(yield* warned).toBe(false)
        const wrong = yield* send(mails, `${mails}/recipients`, { recipients: "everybody" })
        expect([wrong.status, wrong.text.includes("Choose who gets the alerts.")]).toEqual([400, true])
        expect(yield* actions(id)).toEqual([
          "notification_recipients.set",
          "mail_preferences.set",
          "mail_preferences.set"
        ])
      }))

    it.effect("what is paid is shown to the roles that may see it", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization({
          amount_minor: 123_450,
          currency: "JPY",
          payer_email: "bills@acme.example",
          cancel_at: new Date("2030-05-06T00:00:00Z")
        })
        for (const role of everyone) {
          const cookie = yield* Pages.signIn(id, admins[role].id)
          const { status, text } = yield* Pages.visit("GET", `${path}/subscription`, { cookie })
          expect([role, status]).toEqual([role, 200])
          for (const part of ["Governance, billed annually", "Governance: 100", "6 May 2030"]) {
            expect(text).toContain(part)
          }
          const pays = role !== "admin" && role !== "archive"
          for (const part of ["¥123,450", "bills@acme.example", "ask the support"]) {
            expect([role, part, text.includes(part)]).toEqual([role, part, pays])
          }
        }
      }))

    it.effect("an admin asks the support, and reads the answer; superadmins see every request", () =>
      Effect.gen(function*() {
        const { admins, id, see, send } = yield* stage("admin")
        const account = yield* World.makeAccount(id, { first_name: "Ada", last_name: null })
        yield* World.grant(id, admins.admin.id, { accounts: [account] })
        const support = `${path}/support`
        expect((yield* see(support)).text).toContain("Nothing has been asked yet.")
        expect((yield* see(`/console/accounts/${account}`)).text).toContain(`${support}/new?account=${account}`)
        const at = `${support}/new?account=${account}`
        expect((yield* see(at)).text).toContain("It is about the account <bdi dir=\"auto\">Ada</bdi>")
        const message = `A first line\r\n<b>${"😀".repeat(maxSupportMessageLength - 20)}`
        const form = { category: "protection", subject: "Who <i>", message, account, related_request_id: "req-1" }
        const sent = yield* send(at, `${support}/new`, form)
        expect([sent.status, /\/support\/([0-9a-f-]{36})\?done=asked$/.test(sent.location ?? "")]).toEqual([303, true])
        const shown = yield* see(sent.location!)
        for (
          const part of [
            "The request is made.",
            "1: <bdi dir=\"auto\">Who &lt;i&gt;",
            "A first line\n&lt;b&gt;",
            ">Ada<"
          ]
        ) {
          expect(shown.text).toContain(part)
        }
        expect(shown.text).toContain("There is no answer yet.")
        yield* operate((requests) =>
          requests.support_answer({ organization: id, number: 1, answer: "It is <b>fine</b>." })
        )
        const one = sent.location!.split("?", 1)[0]!
        expect((yield* see(one)).text).toContain("It is &lt;b&gt;fine&lt;/b&gt;.")
        expect((yield* see(support)).text).toContain("Answered")
        const owner = yield* Pages.signIn(id, admins.owner.id)
        const billing = yield* Pages.signIn(id, admins.billing.id)
        expect((yield* Pages.visit("GET", support, { cookie: owner })).text).toContain(one)
        expect((yield* Pages.visit("GET", one, { cookie: owner })).text).toContain("by another admin")
        expect((yield* Pages.visit("GET", support, { cookie: billing })).text).not.toContain(one)
        expect((yield* Pages.visit("GET", one, { cookie: billing })).status).toBe(404)
      }))

    it.effect("what a request to the support lacks is said at its field, and a request too many is refused", () =>
      Effect.gen(function*() {
        const { id, see, send } = yield* stage()
        const support = `${path}/support`
        const ask = (form: Record<string, string>) =>
          send(`${support}/new`, `${support}/new`, {
            category: "api",
            subject: "A subject",
            message: "A message",
            ...form
          })
        const cases: ReadonlyArray<readonly [Record<string, string>, number, string]> = [
          [{ subject: " " }, 400, "href=\"#subject\""],
          [{ message: "x".repeat(maxSupportMessageLength + 1) }, 400, "href=\"#message\""],
          [{ account: "nothing" }, 400, "This was not done"],
          [{ related_request_id: "x".repeat(65) }, 400, "href=\"#related_request_id\""]
        ]
        for (const [form, status, text] of cases) {
          const page = yield* ask(form)
          expect([page.status, text, page.text.includes(text)]).toEqual([status, text, true])
        }
        expect((yield* ask({ subject: "Kept <b>", message: "" })).text).toContain("value=\"Kept &lt;b&gt;\"")
        expect((yield* see(`${support}/nothing`)).status).toBe(404)
        yield* Effect.forEach(Array.from({ length: supportRequestsPerDay }), () => ask({}))
        const refused = yield* ask({})
        expect([refused.status, refused.text.includes("in 24 hours at most"), refused.headers.has("retry-after")])
          .toEqual([429, true, true])
        expect((yield* actions(id)).length).toBe(supportRequestsPerDay)
      }))
  })

  layer(
    World.world(postgres, undefined, undefined, null).pipe(
      Layer.provideMerge(Layer.succeed(BillingPages, [{ name: "plans", url: "https://bills.example/plans" }]))
    )
  )("where no mail is sent and pages of the billing are set", (it) => {
    it.effect("an owner reads that no mail is sent, and billing finds its pages", () =>
      Effect.gen(function*() {
        const { admins, id, see } = yield* stage()
        expect((yield* see("/console/accounts")).text).toContain(
          `this console sends no mail. <a href="${mails}">Who gets mails</a>`
        )
        expect((yield* see(mails)).text).toContain("This console sends no mail. Its operator sets up a mail server")
        const cookie = yield* Pages.signIn(id, admins.billing.id)
        expect((yield* Pages.visit("GET", `${path}/subscription`, { cookie })).text).toContain(
          "<a class=\"button\" href=\"https://bills.example/plans\" rel=\"noreferrer\">Plans</a>"
        )
      }))
  })
})
