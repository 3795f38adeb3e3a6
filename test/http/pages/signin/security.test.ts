import { describe, expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { faultOf } from "../../../../src/layers/crypto/signin/PasswordRule.ts"
import * as ApiKeys from "../../../../src/operator/credentials/ApiKeys.ts"
import * as Admins from "../../../../src/operator/people/Admins.ts"
import * as FailedSignIns from "../../../../src/signin/FailedSignIns.ts"
import * as OAuth from "../../../oauth/support.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"

const path = "/console/security"
const next = "seven green lanterns hum"
const firefox = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"

const stage = Effect.fnUntraced(function*() {
  const { admins, id } = yield* World.makeOrganization()
  const email = yield* Pages.emailOf(id, admins.owner.id)
  yield* Pages.givePassword(id, admins.owner.id)
  const signIn = (headers: Record<string, string> = {}, password = Pages.password) =>
    Effect.map(Pages.signInWith({ organization: id, email, password }, { headers }), (page) => {
      expect(page.status).toBe(303)
      return Pages.cookiesOf(page)
    })
  return { admins, id, email, signIn }
})

const status = (cookie: string) => Effect.map(Pages.visit("GET", path, { cookie }), (page) => page.status)

/** Sends the form of the password as it stands on the page, with what is typed. */
const change = Effect.fnUntraced(function*(cookie: string, typed: Record<string, string>, disconnect = true) {
  const form = Pages.formOf(yield* Pages.visit("GET", path, { cookie }), `${path}/password`)
  return yield* Pages.visit("POST", form.action, {
    cookie,
    form: {
      ...form.hidden,
      current: Pages.password,
      new: next,
      repeated: typed["new"] ?? next,
      ...(disconnect ? { disconnect: "yes" } : {}),
      ...typed
    }
  })
})

describe("an admin's own sessions", () => {
  layer(World.world(postgres))((it) => {
    it.effect("are listed with browser, address and times, this one marked, and nobody else's", () =>
      Effect.gen(function*() {
        const { admins, id, signIn } = yield* stage()
        yield* Pages.signIn(id, admins.superadmin.id, { headers: { "user-agent": "Robot <b>" } })
        yield* signIn({ "user-agent": firefox })
        const cookie = yield* signIn({ "user-agent": `${"x".repeat(600)} Firefox/1` })
        const { text } = yield* Pages.visit("GET", path, { cookie })
        expect(text.match(/<h3>/g)?.length).toBe(2)
        expect(text).toContain("<h3>Firefox on Windows</h3>")
        expect(text).toMatch(/<h3>Unknown browser <span class="tone is-note">This session/)
        expect(text).not.toContain("Robot")
      }))

    it.effect("are ended one by one or all but this one, and journaled; a form that was not this page's ends none", () =>
      Effect.gen(function*() {
        const { id, signIn } = yield* stage()
        const [first, second, third, own] = [yield* signIn(), yield* signIn(), yield* signIn(), yield* signIn()]
        const page = yield* Pages.visit("GET", path, { cookie: own })
        const one = Pages.formOf(page, `${path}/sessions/end`, "value=\"all\"")
        const others = (yield* World.query<{ id: string; digest: string }>(
          id,
          (sql) => sql`select id, digest from console_session where organization_id = ${id} order by created_at, id`
        )).map((session) => session.id)
        const forged = yield* Pages.visit("POST", `${path}/sessions/end`, {
          cookie: own,
          form: { ...one.hidden, id: others[0] ?? "" }
        })
        expect([forged.status, yield* status(first)]).toEqual([403, 200])
        const single = Pages.formOf(page, `${path}/sessions/end`, `value="${others[0]}"`)
        const ended = yield* Pages.visit("POST", single.action, { cookie: own, form: single.hidden })
        expect([ended.status, ended.location]).toEqual([303, `${path}?done=ended`])
        const left = yield* Effect.forEach([first, second, third, own], status)
        expect(left.filter((each) => each === 200).length).toBe(3)
        yield* Pages.visit("POST", one.action, { cookie: own, form: one.hidden })
        expect(yield* Effect.forEach([first, second, third, own], status)).toEqual([303, 303, 303, 200])
        expect((yield* World.journal(id)).slice(4)).toMatchObject([
          { action: "console.signed_out", details: { others: 1 } },
          { action: "console.signed_out", details: { others: 2 } }
        ])
      }))
  })
})

describe("changing one's own password", () => {
  layer(World.world(postgres))((it) => {
    it.effect("ends the other sessions, the keys and, where ticked, the applications, and gives this session a new secret", () =>
      Effect.gen(function*() {
        const { connect, organization: { admins, id }, owner } = yield* OAuth.stage()
        yield* Pages.givePassword(id, owner.id)
        const email = yield* Pages.emailOf(id, owner.id)
        const values = { organization: id, email, password: Pages.password }
        const kept = OAuth.tokens(yield* OAuth.redeemWith(yield* connect()))
        const other = Pages.cookiesOf(yield* Pages.signInWith(values))
        const cookie = Pages.cookiesOf(yield* Pages.signInWith(values))
        yield* TestClock.adjust("1 second")
        const done = yield* change(cookie, {}, false)
        expect([done.status, done.location]).toEqual([303, `${path}?done=password`])
        const renewed = Pages.cookiesOf(done)
        expect(yield* Effect.forEach([other, cookie, renewed], status)).toEqual([303, 303, 200])
        expect((yield* World.get("/v1/organization", owner.key)).status).toBe(401)
        expect((yield* World.get("/v1/organization", kept.access_token)).status).toBe(200)
        expect((yield* World.get("/v1/organization", admins.superadmin.key)).status).toBe(200)
        yield* TestClock.adjust("1 second")
        expect((yield* change(renewed, { current: next, new: `${next} twice` })).status).toBe(303)
        expect((yield* World.get("/v1/organization", kept.access_token)).status).toBe(401)
        const events = (yield* World.journal(id)).filter(({ action }) => action === "admin.password_set")
        expect(events).toMatchObject([
          {
            actor_type: "admin",
            actor_admin_id: owner.id,
            via: "console",
            details: { api_keys: 1, connections: 0, sessions: 2 }
          },
          { details: { api_keys: 0, connections: 1, sessions: 0 } }
        ])
        expect(JSON.stringify(yield* World.journal(id))).not.toContain(next)
        expect((yield* Pages.signInWith(values)).status).toBe(403)
        expect((yield* Pages.signInWith({ ...values, password: `${next} twice` })).status).toBe(303)
      }))

    it.effect("is refused with its reason at the field, and changes nothing", () =>
      Effect.gen(function*() {
        const { email, id, signIn } = yield* stage()
        const cookie = yield* signIn()
        const local = email.split("@")[0] ?? ""
        const cases: ReadonlyArray<readonly [Record<string, string>, number, string]> = [
          [{ new: "short" }, 400, "A password has 12 to 1024 characters."],
          [{ new: "password1234" }, 400, "too easy to guess"],
          [{ new: "Password1234!" }, 400, "too easy to guess"],
          [{ new: `lamp orbit ${local.toUpperCase()}` }, 400, "does not contain the name in the email address"],
          [{ new: `lamp orbit ${id}` }, 400, "does not contain the organization&#39;s id"],
          [{ repeated: "another one" }, 400, "not the same as the new password"],
          [{ current: "wrong" }, 403, "not your current password"]
        ]
        for (const [typed, expected, text] of cases) {
          const page = yield* change(cookie, typed, false)
          expect([typed, page.status]).toEqual([typed, expected])
          expect(page.text).toContain(text)
          expect(page.text).toMatch(/id="disconnect" name="disconnect" value="yes">/)
          for (const secret of Object.values(typed)) expect(page.text).not.toContain(`value="${secret}"`)
        }
        yield* FailedSignIns.sweep
        expect((yield* World.changes(id)).map(({ action }) => action)).toEqual(["console_password.failed"])
        expect((yield* change(cookie, { csrf: "x" })).status).toBe(403)
        yield* signIn()
      }))

    it.effect("one password rule holds for the operator too, whose words are not in the journal", () =>
      Effect.gen(function*() {
        const { email, id } = yield* stage()
        const refused = yield* Effect.flip(
          Admins.setPassword.run({ organization: id, email, password: Redacted.make("qwertyuiop12") })
        )
        expect(refused.message).toContain("too easy to guess")
        expect(yield* faultOf("x9".repeat(513), { organizationId: id, email })).toContain("12 to 1024")
        expect(yield* faultOf(next, { organizationId: "acme", email: "a@b.example" })).toBe(null)
      }))
  })
})

describe("what is made in an admin's name", () => {
  layer(World.world(postgres))((it) => {
    it.effect("is shown once in every browser that did not make it, with the transport and the address that it came from", () =>
      Effect.gen(function*() {
        const { admins, email, id, signIn } = yield* stage()
        const [one, two] = [yield* signIn(), yield* signIn()]
        const text = (cookie: string, at = path) => Effect.map(Pages.visit("GET", at, { cookie }), (page) => page.text)
        expect(yield* text(one)).not.toContain("New in your name")
        yield* World.send("POST", "/v1/api-keys", {
          key: admins.owner.key,
          body: { label: "Night <i>", scopes: ["org:read"] }
        })
        yield* World.send("POST", "/v1/api-keys", {
          key: admins.superadmin.key,
          body: { label: "Not mine", scopes: ["org:read"] }
        })
        yield* ApiKeys.createKey.run({
          organization: id,
          email,
          label: "By hand",
          scopes: ["org:read"],
          expires_in_days: 1
        })
        for (const cookie of [one, two]) {
          const seen = yield* text(cookie, "/console/developer")
          expect(seen).toContain("New in your name since your last visit")
          expect(seen).toMatch(
            /Night &lt;i&gt;<\/bdi>” was created over the API with the key “<bdi dir="auto">owner key/
          )
          expect(seen).toMatch(/By hand<\/bdi>” was created by the operator of this console/)
          expect(/New in your name[^]*?<\/div>/.exec(seen)?.[0]).not.toContain("Not mine")
          expect(yield* text(cookie)).not.toContain("New in your name")
        }
      }))

    it.effect("is shown for the newest five, with the number of the others", () =>
      Effect.gen(function*() {
        const { admins, signIn } = yield* stage()
        const cookie = yield* signIn()
        for (let key = 0; key < 7; key++) {
          yield* World.send("POST", "/v1/api-keys", {
            key: admins.owner.key,
            body: { label: `Key ${key}`, scopes: ["org:read"] }
          })
        }
        const { text } = yield* Pages.visit("GET", path, { cookie })
        expect(text.match(/was created over the API/g)?.length).toBe(5)
        expect(text).toContain("There are more")
      }))
  })
})
