import { describe, expect, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { freeResetRequests, passwordResetsPerAdmin, resetRequestsWaiting } from "../../../../src/domain/Limits.ts"
import * as MailSettings from "../../../../src/layers/mail/MailSettings.ts"
import * as Outbox from "../../../../src/layers/sql/mail/Outbox.ts"
import * as PasswordResets from "../../../../src/layers/sql/signin/PasswordResets.ts"
import * as AdminLinks from "../../../../src/operator/people/AdminLinks.ts"
import { resetLink } from "../../../../src/ports/signin/ConsoleAddress.ts"
import { ForgottenPasswords as Forgotten } from "../../../../src/ports/signin/ForgottenPasswords.ts"
import * as ForgottenPasswords from "../../../../src/signin/ForgottenPasswords.ts"
import * as OAuth from "../../../oauth/support.ts"
import * as Pages from "../../../support/http/pages.ts"
import * as Mails from "../../../support/mail/outbox.ts"
import { act } from "../../../support/operator/operator.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as Factors from "../../../support/signin/factors.ts"
import * as World from "../../../support/world.ts"

const path = "/console/reset"
const chosen = "seven green lanterns hum"

/** Sends the form of the request as it stands on the page. */
const ask = Effect.fnUntraced(function*(organization: string, email: string, visiting: Pages.Visiting = {}) {
  const form = Pages.formOf(yield* Pages.visit("GET", path), path)
  return yield* Pages.visit("POST", form.action, { ...visiting, form: { ...form.hidden, organization, email } })
})

const job = ForgottenPasswords.mailRequested

/** The links that wait in the outbox, as paths, the oldest first. */
const links = Effect.fnUntraced(function*(id: string) {
  const mails = (yield* Mails.waiting(id)).filter(({ kind }) => kind === "password_reset")
  return mails.map(({ text }) => /http:\/\/localhost(\S+)/.exec(text)?.[1] ?? "")
})

const choose = Effect.fnUntraced(function*(link: string, typed: Readonly<Record<string, string>> = {}) {
  const form = Pages.formOf(yield* Pages.visit("GET", link), `${path}/password`)
  return yield* Pages.visit("POST", form.action, {
    form: { ...form.hidden, new: chosen, repeated: typed["new"] ?? chosen, ...typed }
  })
})

const staged = Effect.gen(function*() {
  // Who asks in these tests has one address.
  yield* SqlClient.SqlClient.use((sql) => sql`delete from password_throttle`)
  const { admins, id } = yield* World.makeOrganization()
  const email = yield* Pages.emailOf(id, admins.owner.id)
  return { admins, id, email }
})

const events = (id: string) => Effect.map(World.journal(id), (all) => all.map(({ action }) => action))

describe("14.4 a forgotten password", () => {
  layer(World.world(postgres))((it) => {
    it.effect("is replaced once by the link of a mail, which ends all that the old one gave and signs nobody in", () =>
      Effect.gen(function*() {
        const { connect, organization: { admins, id }, owner } = yield* OAuth.stage()
        const email = yield* Pages.emailOf(id, owner.id)
        const cookie = yield* Pages.signIn(id, owner.id)
        const connected = OAuth.tokens(yield* OAuth.redeemWith(yield* connect()))
        yield* TestClock.adjust("1 second")
        expect((yield* ask(id.toUpperCase(), ` ${email.toUpperCase()} `)).location).toBe(`${path}?done=sent`)
        yield* job
        const [link = ""] = yield* links(id)
        const shown = yield* Pages.visit("GET", link)
        expect([shown.status, shown.headers.get("referrer-policy"), shown.headers.get("cache-control")]).toEqual([
          200,
          "no-referrer",
          "no-store"
        ])
        expect((yield* choose(link, { new: "short" })).text).toContain("Problem: choose a new password")
        expect((yield* choose(link, { repeated: "another" })).status).toBe(400)
        const done = yield* choose(link)
        expect([done.status, done.location, done.headers.getSetCookie()]).toEqual([303, `${path}?done=changed`, []])
        expect((yield* Pages.visit("GET", path, { cookie })).text).not.toContain("Sign out")
        expect((yield* Pages.visit("GET", "/console/developer", { cookie })).status).toBe(303)
        expect((yield* World.get("/v1/organization", owner.key)).status).toBe(401)
        expect((yield* World.get("/v1/organization", connected.access_token)).status).toBe(401)
        expect((yield* Pages.visit("GET", link)).status).toBe(404)
        const with_ = (password: string) => Pages.signInWith({ organization: id, email, password })
        expect([(yield* with_(Pages.password)).status, (yield* with_(chosen)).status]).toEqual([403, 303])
        expect((yield* World.get("/v1/organization", admins.superadmin.key)).status).toBe(200)
        const journal = (yield* World.journal(id)).filter(({ action }) => /password_(?:set|reset)/.test(action))
        expect(journal).toMatchObject([
          { action: "password_reset.requested", actor_type: "external", target_id: owner.id },
          {
            action: "admin.password_set",
            via: "console",
            target_id: owner.id,
            details: { by_link: true, connections: 1 }
          }
        ])
        const waitingMails = (yield* Mails.waiting(id)).filter(({ kind }) => kind === "password_replaced")
        expect(waitingMails.map(({ recipient }) => recipient)).toEqual([email])
      }))

    it.effect("gives a password and never a second factor: an admin who has one is asked for it afterwards", () =>
      Effect.gen(function*() {
        const { admins, email, id } = yield* staged
        yield* Factors.giveTotp(id, admins.owner.id)
        const { token } = yield* AdminLinks.makePasswordLink.run({ organization: id, email })
        expect((yield* choose(Redacted.value(resetLink("", token)))).location).toBe(`${path}?done=changed`)
        const begun = yield* Pages.signInWith({ organization: id, email, password: chosen })
        expect(begun.location).toContain("/console/sign-in/second-factor")
        expect((yield* Pages.visit("GET", "/console/people", { cookie: Pages.cookiesOf(begun) })).status).toBe(303)
      }))

    it.effect("is answered in the same way for every address, and mailed to active admins alone", () =>
      Effect.gen(function*() {
        const { admins, email, id } = yield* staged
        const invited = { email: "waits@example.com", role: "admin" }
        yield* World.send("POST", "/v1/admins", { key: admins.owner.key, body: invited })
        const gone = yield* World.makePerson(id, "admin")
        yield* World.post(`/v1/admins/${gone.id}/disable`, admins.owner.key)
        const closed = yield* World.makeOrganization({ closed_at: new Date(0) })
        const asked = [
          [id, email],
          [id, invited.email],
          [id, yield* Pages.emailOf(id, gone.id)],
          [id, "nobody@example.com"],
          [closed.id, yield* Pages.emailOf(closed.id, closed.admins.owner.id)],
          ["nowhere", email],
          [id, `${email}\0`],
          [id, "x".repeat(5000)],
          ["", ""]
        ] as const
        const answers = yield* Effect.forEach(asked, ([organization, address]) => ask(organization, address))
        expect(new Set(answers.map((page) => JSON.stringify([page.status, page.location, page.text]))).size).toBe(1)
        yield* job
        expect((yield* Mails.waiting(id)).filter(({ kind }) => kind === "password_reset").length).toBe(1)
        expect(yield* Mails.waiting(closed.id)).toEqual([])
        const sql = yield* SqlClient.SqlClient
        expect(yield* sql`select 1 from password_reset_request`).toEqual([])
      }))

    it.effect("goes out every 15 minutes at most, ten times a day for strangers, and on for a browser that is known", () =>
      Effect.gen(function*() {
        const { admins, email, id } = yield* staged
        yield* Pages.givePassword(id, admins.owner.id)
        const known = Pages.cookiesOf(
          yield* Pages.signInWith({ organization: id, email, password: Pages.password })
        )
        const sent = Effect.map(links(id), ({ length }) => length)
        yield* ask(id, email)
        yield* ask(id, email)
        yield* Effect.all([job, job], { concurrency: 2 })
        expect(yield* sent).toBe(1)
        for (let time = 0; time < passwordResetsPerAdmin + 3; time++) {
          yield* TestClock.adjust("16 minutes")
          yield* ask(id, email)
          yield* job
        }
        expect(yield* sent).toBe(passwordResetsPerAdmin)
        yield* ask(id, email, { cookie: known })
        yield* job
        expect(yield* sent).toBe(passwordResetsPerAdmin + 1)
        yield* TestClock.adjust("1 day")
        yield* PasswordResets.sweep
        yield* ask(id, email)
        yield* job
        expect(yield* sent).toBe(passwordResetsPerAdmin + 2)
      }))

    it.effect("has links that end with their hour, with another password, and with the admin", () =>
      Effect.gen(function*() {
        const { admins, email, id } = yield* staged
        const made = Effect.gen(function*() {
          yield* TestClock.adjust("20 minutes")
          yield* ask(id, email)
          yield* job
          return (yield* links(id)).at(-1) ?? ""
        })
        const status = (link: string) => Effect.map(Pages.visit("GET", link), (page) => [page.status, page.text.length])
        const first = yield* made
        const second = yield* made
        expect((yield* status(first))[0]).toBe(200)
        yield* TestClock.adjust("40 minutes")
        const gone = yield* status(first)
        expect([gone[0], (yield* status(second))[0]]).toEqual([404, 200])
        expect((yield* choose(second)).status).toBe(303)
        const [third, other] = [yield* made, yield* made]
        expect((yield* choose(third)).status).toBe(303)
        const last = yield* made
        expect(yield* Effect.forEach([other, `${path}?token=rst_x`], status)).toEqual([gone, gone])
        yield* World.set(id, "admin", admins.owner.id, { role: "admin" })
        const superadmin = admins.superadmin.key
        yield* World.set(id, "admin", admins.superadmin.id, { role: "owner" })
        yield* World.post(`/v1/admins/${admins.owner.id}/disable`, superadmin)
        expect(yield* status(last)).toEqual(gone)
        yield* World.post(`/v1/admins/${admins.owner.id}/enable`, superadmin)
        expect(yield* status(last)).toEqual(gone)
        const later = yield* made
        expect((yield* status(later))[0]).toBe(200)
        yield* World.send("DELETE", `/v1/admins/${admins.owner.id}`, { key: superadmin })
        expect(yield* status(later)).toEqual(gone)
      }))

    it.effect("is not mailed to admins who have to sign in by the identity provider, except the owner", () =>
      Effect.gen(function*() {
        const { admins, email, id } = yield* staged
        const theirs = yield* Pages.emailOf(id, admins.admin.id)
        const { token } = yield* AdminLinks.makePasswordLink.run({ organization: id, email: theirs })
        const made = Redacted.value(resetLink("", token))
        const set = Pages.formOf(yield* Pages.visit("GET", made), `${path}/password`)
        yield* act((requests) =>
          requests.identity_provider_set({
            organization: id,
            issuer: "https://login.acme.example",
            client_id: "console",
            client_secret: Redacted.make("secret"),
            required: true,
            second_factor: null,
            private_network: null,
            max_age: null
          })
        )
        for (const each of [theirs, email]) {
          expect((yield* ask(id, each)).location).toBe(`${path}?done=sent`)
        }
        yield* job
        const waitingMails = (yield* Mails.waiting(id)).filter(({ kind }) => kind === "password_reset")
        expect(waitingMails.map(({ recipient }) => recipient)).toEqual([email])
        expect((yield* Pages.visit("GET", made)).status).toBe(404)
        const late = { form: { ...set.hidden, new: chosen, repeated: chosen } }
        expect((yield* Pages.visit("POST", set.action, late)).status).toBe(404)
        const refused = yield* Effect.flip(AdminLinks.makePasswordLink.run({ organization: id, email: theirs }))
        expect(refused.message).toContain("signs in by the identity provider")
        expect((yield* events(id)).filter((action) => action === "admin.password_set")).toEqual([])
        const [link = ""] = yield* links(id)
        expect((yield* choose(link)).location).toBe(`${path}?done=changed`)
        yield* AdminLinks.makePasswordLink.run({ organization: id, email })
      }))

    it.effect("is made by the operator's link where no mail is sent", () =>
      Effect.gen(function*() {
        const { admins, email, id } = yield* staged
        const without = Layer.fresh(ForgottenPasswords.layer.pipe(
          Layer.provide(Outbox.layer),
          Layer.provide(Layer.succeed(MailSettings.MailSettings, null))
        ))
        const page = yield* Effect.provide(Pages.visit("GET", path), without)
        expect(page.text).toContain("Ask whoever operates it")
        expect(page.text).not.toContain("<form")
        const { token } = yield* AdminLinks.makePasswordLink.run({ organization: id, email })
        const link = Redacted.value(resetLink("", token))
        expect((yield* choose(link)).status).toBe(303)
        expect((yield* events(id)).filter((action) => action.includes("password"))).toEqual([
          "password_reset.link_made",
          "admin.password_set"
        ])
        yield* World.post(`/v1/admins/${admins.billing.id}/disable`, admins.superadmin.key)
        const refused = yield* Effect.flip(
          AdminLinks.makePasswordLink.run({ organization: id, email: yield* Pages.emailOf(id, admins.billing.id) })
        )
        expect(refused.message).toContain("is disabled")
      }))

    it.effect("takes no foreign form, makes one address wait after twenty requests, and keeps a bounded queue", () =>
      Effect.gen(function*() {
        const { email, id } = yield* staged
        const foreign = yield* Pages.visit("POST", path, {
          form: { organization: id, email },
          headers: { origin: "https://evil.example" }
        })
        expect(foreign.status).toBe(403)
        for (let time = 0; time < 20; time++) yield* ask(id, `nobody-${time}@example.com`)
        yield* ask(id, email)
        const waits = yield* ask(id, email)
        expect([waits.status, waits.headers.get("retry-after") !== null]).toEqual([429, true])
        yield* TestClock.adjust("1 hour")
        const sql = yield* SqlClient.SqlClient
        yield* sql`delete from password_reset_request`
        yield* sql`
            insert into password_reset_request (id, request_sealed, created_at, address, network)
            select gen_random_uuid(), 'gone.x', now(), n::text, n::text
            from generate_series(1, ${resetRequestsWaiting}) n`
        expect((yield* ask(id, email)).status).toBe(503)
        yield* TestClock.adjust("1 day")
        for (let run = 0; run < resetRequestsWaiting / 50 + 1; run++) yield* job
        expect((yield* ask(id, email)).status).toBe(303)
      }))

    it.effect("is not kept from anybody by a flood from a hundred networks, and looks at those of quiet ones first", () =>
      Effect.gen(function*() {
        const { email, id } = yield* staged
        yield* SqlClient.SqlClient.use((sql) => sql`delete from password_reset_request`)
        const requests = yield* Forgotten
        const from = (ip: string, address = "nobody@example.com") =>
          requests.request({ organization: id, email: address }, { baseUrl: World.baseUrl, organizationId: null }, {
            via: "console",
            ip,
            requestId: null
          }).pipe(Effect.as("kept"), Effect.catch(({ _tag }) => Effect.succeed(_tag)))
        const waiting = Effect.map(
          SqlClient.SqlClient.use((sql) => sql`select 1 from password_reset_request`),
          ({ length }) => length
        )
        for (let network = 0; network < 100; network++) {
          for (let host = 0; host < 12; host++) yield* from(`10.7.${network}.${host}`)
        }
        expect([yield* waiting, yield* from("10.7.0.99")]).toEqual([resetRequestsWaiting, "service_unavailable"])
        expect(yield* from("192.0.2.7", email)).toBe("kept")
        expect(yield* waiting).toBe(resetRequestsWaiting)
        yield* job
        expect((yield* links(id)).length).toBe(1)
        yield* SqlClient.SqlClient.use((sql) => sql`delete from password_reset_request`)
        // One address has as many requests as cost no wait, whoever shares its network.
        for (let request = 0; request < freeResetRequests; request++) {
          expect(yield* from("2001:db8:1:2::1")).toBe("kept")
        }
        yield* SqlClient.SqlClient.use((sql) => sql`delete from password_throttle`)
        expect(yield* from("2001:db8:1:2::2")).toBe("too_many_attempts")
        expect(yield* from("2001:db8:1:3::1")).toBe("kept")
        yield* SqlClient.SqlClient.use((sql) => sql`delete from password_reset_request`)
      }))
  })
})
