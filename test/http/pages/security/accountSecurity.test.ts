import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import type { Role } from "../../../../src/domain/people/Access.ts"
import { SimulatedPlatform } from "../../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import { established, start } from "../../../support/protection/watched.ts"
import * as Factors from "../../../support/signin/factors.ts"
import * as World from "../../../support/world.ts"

const holders = "horse staple of its own"

const staged = Effect.fnUntraced(function*(role: Role = "owner", security: Record<string, unknown> = {}) {
  yield* TestClock.setTime(start)
  const platform = yield* SimulatedPlatform
  yield* platform.clearScripts
  const { admins, id } = yield* World.makeOrganization()
  const { id: account, userId } = yield* World.makeLiveAccount(id, {
    security: { login_email: "ada@example.org", ...security }
  }, { facts: established })
  const cookie = yield* Pages.signIn(id, admins[role].id)
  const own = `/console/accounts/${account}/security`
  const see = (path: string = own) => Pages.visit("GET", path, { cookie })
  const send = Effect.fnUntraced(function*(action: string, form: Record<string, string> = {}) {
    const { hidden } = Pages.formOf(yield* see(), `${own}/${action}`)
    return yield* Pages.visit("POST", `${own}/${action}`, { cookie, form: { ...hidden, ...form } })
  })
  return {
    account,
    admins,
    cookie,
    id,
    own,
    platform,
    see,
    send,
    userId,
    code: (kind: "recovery" | "login") =>
      Effect.map(platform.emailCode(userId, kind), (sent) => sent === null ? "none" : Redacted.value(sent))
  }
})

describe("15.3 the security of an account at the console", () => {
  layer(World.world(postgres))((it) => {
    it.effect("everything that secures an account is done by its operation, and shown as the messenger has it", () =>
      Effect.gen(function*() {
        const { account, code, id, own, see, send } = yield* staged()
        expect((yield* see(`/console/accounts/${account}`)).text).toContain(`href="${own}"`)
        const first = yield* see()
        for (const text of [">Off<", "@example.org", "set one first", "None"]) expect(first.text).toContain(text)
        const done = Effect.fnUntraced(function*(action: string, form: Record<string, string> = {}) {
          const page = yield* send(action, form)
          expect([action, page.status, page.location]).toEqual([action, 303, `${own}?done=${action}`])
          const after = yield* see(page.location!)
          expect(after.text).toContain("class=\"good\" role=\"status\"")
          return after.text
        })
        const kept = yield* done("set-two-fa")
        expect(kept).toContain("On, kept by the service")
        expect(kept).toContain(`/console/accounts/${account}/secrets`)
        yield* done("set-two-fa")
        const sent = yield* done("set-recovery-email", { email: " new.address@example.org " })
        for (const text of ["A code was sent to", "n*****s@example.org", "5 entries are left", "6 digits"]) {
          expect(sent).toContain(text)
        }
        expect(sent).not.toContain("new.address")
        const right = yield* code("recovery")
        const wrong = yield* send("confirm-recovery-email", { code: right === "000000" ? "111111" : "000000" })
        expect([wrong.status, wrong.text.includes("The code is wrong."), wrong.text.includes("4 entries are left")])
          .toEqual([400, true, true])
        expect(wrong.text).toContain("href=\"#confirm-recovery-email-code\"")
        yield* done("confirm-recovery-email", { code: `${right.slice(0, 3)} ${right.slice(3)}` })
        yield* done("set-login-email", { email: "codes@example.org" })
        yield* done("confirm-login-email", { code: yield* code("login") })
        yield* done("remove-recovery-email")
        expect(yield* done("add-passkey")).toContain("Added")
        yield* done("remove-passkey")
        yield* done("create-paired-session")
        yield* done("remove-paired-session")
        expect(yield* done("remove-two-fa")).toContain(">Off<")
        const events = (yield* World.changes(id)).filter(({ outcome }) => outcome === "done")
        expect([...new Set(events.map(({ via }) => via))]).toEqual(["console"])
        expect(events.map(({ action }) => action)).toEqual([
          "two_fa.set",
          "two_fa.set",
          "recovery_email.requested",
          "recovery_email.confirmed",
          "login_email.requested",
          "login_email.confirmed",
          "recovery_email.removed",
          "passkey.added",
          "passkey.removed",
          "paired_session.created",
          "paired_session.removed",
          "two_fa.removed"
        ])
        expect((yield* see(`${own}?done=toString`)).text).not.toContain("class=\"good\"")
      }))

    it.effect("the holder's password is asked for where it is needed, refused at its field, and never shown", () =>
      Effect.gen(function*() {
        const { cookie, own, platform, see, send, userId } = yield* staged("superadmin", {
          two_fa_password: Redacted.make(holders)
        })
        const page = yield* see()
        expect(page.text).toContain("On, the holder’s own")
        expect(page.text).not.toContain(`${own}/remove-two-fa`)
        for (const action of ["set-two-fa", "create-paired-session"]) {
          const lacking = yield* send(action)
          expect([lacking.status, lacking.text.includes(`href="#${action}-current_password"`)]).toEqual([409, true])
          const wrong = yield* send(action, { current_password: "not-the-holders-9" })
          expect([wrong.status, wrong.text.includes("The 2FA password is wrong.")]).toEqual([400, true])
          expect(wrong.text).not.toContain("not-the-holders-9")
        }
        const malformed = yield* send("set-login-email", { email: "nobody" })
        expect([malformed.status, malformed.text.includes("Enter an address such as")]).toEqual([400, true])
        const done = yield* send("set-two-fa", { current_password: holders })
        expect([done.status, done.text]).toEqual([303, ""])
        // The token of one form is none of another.
        const { hidden } = Pages.formOf(yield* see(), `${own}/add-passkey`)
        expect((yield* Pages.visit("POST", `${own}/remove-two-fa`, { cookie, form: hidden })).status).toBe(403)
        expect([yield* platform.isPassword(userId, Redacted.make(holders))]).toEqual([false])
      }))

    it.effect("changes need the second factor of admins who have one; other roles and other accounts see nothing", () =>
      Effect.gen(function*() {
        const { account, admins, id, own, platform, send, see, userId } = yield* staged()
        yield* Pages.givePassword(id, admins.superadmin.id)
        yield* Factors.giveTotp(id, admins.superadmin.id)
        const email = yield* Pages.emailOf(id, admins.superadmin.id)
        const signed = yield* Factors.answer(yield* Factors.begin(id, email), yield* Factors.code())
        const cookie = Pages.cookiesOf(signed)
        yield* TestClock.adjust("11 minutes")
        const page = yield* Pages.visit("GET", own, { cookie })
        expect(page.text).toContain("Changing what secures an account needs your second factor.")
        for (const action of ["set-two-fa", "set-login-email", "add-passkey"]) {
          const { hidden } = Pages.formOf(page, `${own}/${action}`)
          const refused = yield* Pages.visit("POST", `${own}/${action}`, {
            cookie,
            form: { ...hidden, email: "thief@example.org" }
          })
          expect([refused.status, refused.text.includes("This needs your second factor")]).toEqual([403, true])
        }
        expect(yield* World.changes(id)).toEqual([])

        const billing = yield* Pages.signIn(id, admins.billing.id)
        const admin = yield* Pages.signIn(id, admins.admin.id)
        expect((yield* Pages.visit("GET", own, { cookie: billing })).status).toBe(403)
        expect((yield* Pages.visit("GET", own, { cookie: admin })).status).toBe(404)
        yield* World.grant(id, admins.admin.id, { accounts: [account] })
        yield* send("set-two-fa")
        const granted = yield* Pages.visit("GET", own, { cookie: admin })
        expect([granted.status, granted.text.includes("/secrets\"")]).toEqual([200, false])

        yield* platform.revokeService(userId)
        const unread = yield* see()
        expect([unread.status, unread.text.includes("does not say how the account is secured")]).toEqual([200, true])
        expect((yield* send("add-passkey")).status).toBe(409)
      }))

    it.effect("offboarding says what will happen by how the account is, and what became of it", () =>
      Effect.gen(function*() {
        const { account, admins, cookie, id, platform, see, send, userId } = yield* staged()
        const path = `/console/accounts/${account}`
        const offboard = `${path}/offboard`
        expect((yield* see(path)).text).toContain(`href="${offboard}"`)
        const says = Effect.map(see(offboard), ({ text }) => text)
        expect(yield* says).toContain("has no 2FA password")
        yield* send("set-two-fa")
        yield* send("add-passkey")
        for (const text of ["the service keeps is removed", "The passkey of the service is removed", "seat is free"]) {
          expect(yield* says).toContain(text)
        }
        yield* platform.script({ userId, answer: { _tag: "Unavailable" }, times: 30 })
        expect(yield* says).toContain("for 90 days")
        const admin = yield* Pages.signIn(id, admins.admin.id)
        const billing = yield* Pages.signIn(id, admins.billing.id)
        expect((yield* Pages.visit("GET", offboard, { cookie: admin })).status).toBe(404)
        expect((yield* Pages.visit("GET", offboard, { cookie: billing })).status).toBe(403)
        const form = Pages.formOf(yield* see(offboard), offboard).hidden
        expect((yield* Pages.visit("POST", offboard, { cookie })).status).toBe(403)
        const done = yield* Pages.visit("POST", offboard, { cookie, form })
        expect([done.status, done.location]).toEqual([303, `${path}?done=offboarded_two_fa_held`])
        const after = yield* see(done.location!)
        expect(after.text).toContain("may still be set on it")
        expect(after.text).not.toContain(offboard)
        expect(yield* says).toContain("The account is offboarded.")
        const again = yield* Pages.visit("POST", offboard, { cookie, form })
        expect([again.status, again.text.includes("offboarded already")]).toEqual([409, true])
      }))
  })
})
