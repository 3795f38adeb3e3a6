import { describe, expect, layer } from "@effect/vitest"
import { Clock, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { JournalDetails } from "../../../../src/domain/journal/JournalEvent.ts"
import { providerSignInLifetime } from "../../../../src/domain/Limits.ts"
import { OrganizationId } from "../../../../src/domain/people/Access.ts"
import { callbackPath } from "../../../../src/domain/signin/IdentityProvider.ts"
import * as Tenant from "../../../../src/layers/postgres/Tenant.ts"
import { ConsoleSessions } from "../../../../src/ports/signin/ConsoleSessions.ts"
import * as Pages from "../../../support/http/pages.ts"
import * as Identity from "../../../support/signin/identityProvider.ts"
import * as World from "../../../support/world.ts"
import { back, connect, go, isSignedIn, linkAs, made, path, signIn, world } from "./provided.ts"

describe("signing in by a real identity provider", () => {
  layer(world)((it) => {
    it.effect("a linked admin is signed in, once, with the sign-in's kind in the journal and nothing of it left in the browser", () =>
      Effect.gen(function*() {
        const { admins, id, provider } = yield* made
        yield* linkAs(id, admins.admin.id, "person-1")
        const form = Pages.formOf(
          yield* Pages.visit("GET", `${path}?organization=${id}&return_to=/console/security`),
          path
        )
        expect(form.markup).toContain(`value="${id}"`)
        expect(form.hidden).toEqual({ return_to: "/console/security" })
        expect((yield* Pages.visit("GET", "/console/sign-in")).text).toContain(`href="${path}?return_to=`)

        const { cookie, page, url } = yield* go(` ${id.toUpperCase()} `, {
          email: "ada@acme.example",
          return_to: "/console/developer"
        })
        expect(page.status).toBe(200)
        expect(page.headers.get("set-cookie")).toMatch(
          /^console-provider=[\w.-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/
        )
        const sent = Object.fromEntries(new URL(url).searchParams)
        expect(sent).toMatchObject({
          client_id: "console",
          response_type: "code",
          scope: "openid",
          redirect_uri: `${World.baseUrl}${callbackPath(id)}`,
          code_challenge_method: "S256",
          login_hint: "ada@acme.example"
        })
        for (const each of ["state", "nonce", "code_challenge"]) expect(sent[each]).toMatch(/^[\w-]{43}$/)

        const callback = yield* Identity.follow(url)
        expect(callback.searchParams.get("iss")).toBe(provider.issuer)
        const done = yield* back(callback, cookie)
        expect([done.status, done.location]).toEqual([303, "/console/developer"])
        expect(yield* isSignedIn(done)).toBe(true)
        expect(done.headers.get("set-cookie")).toContain("console-provider=; Max-Age=0")
        expect((yield* World.journal(id)).at(-1)).toMatchObject({
          action: "console.signed_in",
          actor_admin_id: admins.admin.id,
          details: { way: "identity_provider", issuer: provider.issuer }
        })

        // The same answer in the same browser, where somebody kept its cookie: the provider has not to be trusted with
        // it.
        const again = yield* back(callback, cookie)
        expect([again.status, again.text]).toEqual([403, expect.stringContaining("You are not signed in")])
        expect(yield* isSignedIn(again)).toBe(false)
      }))

    it.effect("a person who is linked to nobody, or is disabled, removed or has not joined, is not signed in, and nobody is made an admin", () =>
      Effect.gen(function*() {
        const { admins, id, provider } = yield* made
        provider.person = (yield* Pages.emailOf(id, admins.admin.id)).toLowerCase()
        const stranger = yield* signIn(id)
        expect([stranger.status, stranger.text]).toEqual([403, expect.stringContaining(provider.person)])
        provider.person = "person-1"
        yield* linkAs(id, admins.admin.id, "person-1")
        const states = [
          { disabled_at: new Date(0) },
          { disabled_at: new Date(0), removed_at: new Date(0) },
          { disabled_at: null, removed_at: null, joined_at: null }
        ]
        for (const facts of states) {
          yield* World.set(id, "admin", admins.admin.id, facts)
          expect((yield* signIn(id)).status).toBe(403)
        }
        yield* World.set(id, "admin", admins.admin.id, { joined_at: new Date(0) })
        expect((yield* signIn(id)).status).toBe(303)
        const count = yield* World.query<{ count: number }>(
          id,
          (sql) => sql`select count(*)::integer as count from admin where organization_id = ${id}`
        )
        expect(count).toEqual([{ count: 5 }])
      }))

    it.effect("a person of two organizations is in each the admin that is linked there, and comes back to the one they left for", () =>
      Effect.gen(function*() {
        const one = yield* World.makeOrganization()
        const other = yield* World.makeOrganization()
        const provider = yield* Identity.real([one, other].map(({ id }) => `${World.baseUrl}${callbackPath(id)}`))
        for (const { admins, id } of [one, other]) {
          yield* connect(id, provider.issuer)
          yield* linkAs(id, admins.admin.id, "person-1")
        }
        const { cookie, url } = yield* go(one.id)
        const callback = yield* Identity.follow(url)
        const elsewhere = new URL(callback.href.replace(one.id, other.id))
        expect((yield* back(elsewhere, cookie)).status).toBe(403)
        expect(yield* World.changes(other.id)).toHaveLength(2)
        yield* back(callback, cookie)
        expect((yield* World.journal(one.id)).at(-1)?.actor_admin_id).toBe(one.admins.admin.id)
        yield* signIn(other.id)
        expect((yield* World.journal(other.id)).at(-1)?.actor_admin_id).toBe(other.admins.admin.id)
      }))

    it.effect("an answer counts in the browser that left, for its time, as long as the provider stays as it was", () =>
      Effect.gen(function*() {
        const { admins, id, provider } = yield* made
        yield* linkAs(id, admins.admin.id, "person-1")
        const { cookie, url } = yield* go(id)
        const callback = yield* Identity.follow(url)
        // Somebody's own answer in the browser of another, who would be signed in as them.
        const mine = yield* go(id)
        const changed = `${cookie.slice(0, -9)}${cookie.at(-9) === "A" ? "B" : "A"}${cookie.slice(-8)}`
        for (const planted of ["", mine.cookie, changed, `${cookie}; ${mine.cookie}`]) {
          expect((yield* back(callback, planted)).status).toBe(403)
        }
        const twice = new URL(`${callback.href}&state=${callback.searchParams.get("state")}`)
        expect((yield* back(twice, cookie)).status).toBe(403)
        yield* TestClock.adjust(Duration.subtract(providerSignInLifetime, Duration.seconds(30)))
        yield* TestClock.adjust(Duration.seconds(30))
        expect((yield* back(callback, cookie)).status).toBe(403)

        yield* connect(id, provider.issuer)
        const left = yield* go(id)
        const answer = yield* Identity.follow(left.url)
        yield* connect(id, provider.issuer, { second_factor: "claim" })
        expect((yield* back(answer, left.cookie)).status).toBe(403)
        expect((yield* signIn(id)).status).toBe(303)
      }))

    it.effect("a refusal at the provider, an unavailable provider and its new keys are reported, and harm nothing", () =>
      Effect.gen(function*() {
        const { admins, id, provider } = yield* made
        yield* linkAs(id, admins.admin.id, "person-1")
        provider.denies = true
        expect((yield* signIn(id)).text).toContain("was not accepted")
        provider.denies = false
        expect((yield* signIn(id)).status).toBe(303)
        provider.rotate("second")
        // The keys of before are younger than a minute: the first who comes finds out.
        expect((yield* signIn(id)).status).toBe(403)
        expect((yield* signIn(id)).status).toBe(303)
        const { page } = yield* go("no-such-organization")
        expect([page.status, page.text]).toEqual([404, expect.stringContaining("no identity provider")])
        const bare = yield* World.makeOrganization()
        const none = yield* go(bare.id)
        expect(none.page.text.replaceAll(bare.id, "ID")).toBe(page.text.replaceAll("no-such-organization", "ID"))
        yield* connect(bare.id, "https://app.example:1")
        const away = yield* go(bare.id)
        expect([away.page.status, away.page.text]).toEqual([503, expect.stringContaining("app.example:1")])
      }))

    it.effect("no session begins by what was taken away between the proof and the session", () =>
      Effect.gen(function*() {
        const { admins, id, provider } = yield* made
        const admin = { organizationId: OrganizationId.make(id), adminId: admins.admin.id }
        const visit = {
          cookies: undefined,
          site: { baseUrl: World.baseUrl, organizationId: null },
          ip: null,
          requestId: null,
          userAgent: undefined
        }
        const sessions = yield* ConsoleSessions
        const begin = (details: JournalDetails, factor: "totp" | null = null) =>
          Effect.gen(function*() {
            const since = new Date(yield* Clock.currentTimeMillis)
            return yield* Effect.match(sessions.start(admin, visit, { since, factor, details }), {
              onFailure: ({ _tag }) => _tag,
              onSuccess: () => "begun"
            })
          })
        const byProvider = { way: "identity_provider", issuer: provider.issuer }
        const ways = Effect.all([begin({}), begin({}, "totp"), begin(byProvider), begin({ way: "invitation" })])
        expect(yield* ways).toEqual(["begun", "service_unavailable", "service_unavailable", "begun"])
        yield* linkAs(id, admins.admin.id, "person-1")
        yield* connect(id, provider.issuer, { required: true })
        expect(yield* ways).toEqual(["service_unavailable", "service_unavailable", "begun", "begun"])
        yield* World.set(id, "admin", admins.admin.id, { disabled_at: new Date(0) })
        expect(new Set(yield* ways)).toEqual(new Set(["service_unavailable"]))
      }))

    it.effect("nobody who has not proved who they are makes a row, and 20 failures of an address are free", () =>
      Effect.gen(function*() {
        const { admins, id, provider } = yield* made
        yield* linkAs(id, admins.admin.id, "person-1")
        yield* SqlClient.SqlClient.use((sql) => Tenant.directory(sql)(sql`delete from password_throttle`))
        const before = yield* World.snapshot(id)
        const { cookie, url } = yield* go(id)
        const asked = provider.asked.length
        const state = new URL(url).searchParams.get("state") ?? ""
        const wrong = (code: string) =>
          back(
            new URL(`${World.baseUrl}${callbackPath(id)}?code=${code}&state=${state}&iss=${provider.issuer}`),
            cookie
          )
        const statuses = yield* Effect.forEach(
          Array.from({ length: 22 }, (_, at) => `wrong-${at}`),
          (code) => Effect.map(wrong(code), ({ status }) => status)
        )
        expect(statuses).toEqual([...Array.from({ length: 21 }, () => 403), 429])
        // The provider was asked as often as that, and once for its document.
        expect(provider.asked.slice(asked).filter((each) => each === "POST /token")).toHaveLength(21)
        expect(yield* World.snapshot(id)).toEqual(before)
        yield* TestClock.adjust("1 minute")
        expect((yield* back(yield* Identity.follow(url), cookie)).status).toBe(303)
      }))
  })
})
