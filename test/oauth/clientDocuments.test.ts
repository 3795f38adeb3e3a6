import { describe, expect, layer } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import { TestClock } from "effect/testing"
import * as ClientDocuments from "../../src/layers/documents/ClientDocuments.ts"
import * as Authorize from "../../src/oauth/authorize/Authorize.ts"
import { describedBy, isDocumentAddress } from "../../src/oauth/ClientDocument.ts"
import { parse } from "../../src/oauth/Parameters.ts"
import { refresh } from "../../src/oauth/token/refreshToken.ts"
import { approveApplication, requireApproval } from "../../src/operator/oauth/Applications.ts"
import * as Ports from "../../src/ports/oauth/OAuthPorts.ts"
import type { SignedIn } from "../../src/ports/signin/ConsoleSessions.ts"
import * as Documents from "../support/http/documents.ts"
import * as Pages from "../support/http/pages.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import {
  approve,
  challengeOf,
  connections,
  invalidToken,
  issuer,
  makeVerifier,
  ok,
  query,
  redeemWith,
  refreshWith,
  refused,
  revokeWith,
  signIn,
  stage,
  tokens,
  use
} from "./support.ts"

const challenge = challengeOf(makeVerifier())

/** A document at a host on this machine, and an application that goes by it. */
const documented = Effect.gen(function*() {
  const host = yield* Documents.host
  const client_id = host.address
  const redirect_uri = `${host.origin}/callback`
  const document = {
    client_id,
    client_name: "Documented",
    redirect_uris: [redirect_uri],
    token_endpoint_auth_method: "none"
  }
  host.answer = Documents.json(document)
  const reader = Effect.provideService(Ports.ClientDocuments, ClientDocuments.make(host.internet))
  return { host, application: { client_id }, document, redirect_uri, reader }
})

describe("applications that name a document", () => {
  layer(World.world(postgres))((it) => {
    it.effect("name it by an https address that can be read in one way alone", () =>
      Effect.sync(() => {
        for (
          const address of [
            "https://app.example/client.json",
            "https://app.example/a/b?c=d",
            "https://app.example:8443/client",
            `https://app.example/${"x".repeat(2028)}`
          ]
        ) expect([address, isDocumentAddress(address)]).toEqual([address, true])
        for (
          const address of [
            "http://app.example/client",
            "HTTPS://app.example/client",
            "https://app.example",
            "https://app.example/",
            "https://app.example/?a",
            "https://app.example/client#",
            "https://app.example/client#a",
            "https://user@app.example/client",
            "https://:word@app.example/client",
            "https://@app.example/client",
            "https://app.example/a/../client",
            "https://app.example/./client",
            "https://app.example/%2e%2e/client",
            "https://app.example/a\\b",
            "https://APP.example/client",
            "https://app.example:443/client",
            "https://app.example./client",
            "https://localhost/client",
            "https://127.0.0.1/client",
            "https://2130706433/client",
            "https://[::1]/client",
            "https://app.example/ client",
            `https://app.example/${"x".repeat(2029)}`,
            "app.example/client",
            ""
          ]
        ) expect([address, isDocumentAddress(address)]).toEqual([address, false])
      }))

    it.effect("say in it what a registration says, its own address, no secret, and callbacks of its own host or this machine", () =>
      Effect.gen(function*() {
        const address = "https://app.example/client"
        const document = {
          client_id: address,
          redirect_uris: ["https://app.example/callback", "http://127.0.0.1/cb", "http://localhost:3000/cb"],
          token_endpoint_auth_method: "none"
        }
        expect(yield* describedBy(address, { ...document, client_name: "A name", logo_uri: "x" })).toEqual({
          id: address,
          name: "A name",
          redirectUris: document.redirect_uris,
          authMethod: "none",
          secretDigest: null
        })
        for (
          const wrong of [
            { client_id: `${address}/` },
            { client_id: undefined },
            { token_endpoint_auth_method: undefined },
            { token_endpoint_auth_method: "client_secret_post" },
            { client_secret: "x" },
            { client_secret_expires_at: 0 },
            { redirect_uris: [] },
            { redirect_uris: ["https://other.example/callback"] },
            { redirect_uris: ["https://app.example:8443/callback"] },
            { redirect_uris: ["https://sub.app.example/callback"] },
            { redirect_uris: ["http://app.example/callback"] },
            { redirect_uris: [...document.redirect_uris, "javascript:alert(1)"] },
            { grant_types: ["implicit"] },
            { client_name: "\u202e" }
          ]
        ) {
          expect([wrong, Exit.isFailure(yield* Effect.exit(describedBy(address, { ...document, ...wrong })))]).toEqual([
            wrong,
            true
          ])
        }
        for (const body of [null, [], "text", 1, [document]]) {
          expect(Exit.isFailure(yield* Effect.exit(describedBy(address, body)))).toBe(true)
        }
      }))

    it.effect("are unknown where that is off, and nothing is asked before an admin is signed in", () =>
      Effect.gen(function*() {
        const { application, host, reader, redirect_uri } = yield* documented
        const { admin } = yield* stage()
        const text = query(application, challenge, { redirect_uri })
        const check = (who: SignedIn | null) => Authorize.check(text, issuer, Option.fromNullOr(who))
        for (const who of [admin, null]) {
          expect(yield* check(who)).toEqual({ _tag: "Page", reason: "client_id" })
        }
        expect(yield* reader(check(null))).toEqual({ _tag: "SignIn", clientName: new URL(host.origin).host })
        const page = yield* reader(Pages.visit("GET", `/oauth/authorize?${text}`))
        expect(new URL(page.location ?? "", World.baseUrl).pathname).toBe("/console/sign-in")
        expect(host.connections).toBe(0)
        expect((yield* reader(check(admin)))._tag).toBe("Ready")
        const metadata = World.send("GET", "/.well-known/oauth-authorization-server")
        expect((yield* metadata).body).not.toHaveProperty("client_id_metadata_document_supported")
        expect((yield* reader(metadata)).body.client_id_metadata_document_supported).toBe(true)
      }))

    it.effect("are connected, refreshed and revoked without a registration, and the host is asked once", () =>
      Effect.gen(function*() {
        const { application, host, reader, redirect_uri } = yield* documented
        const { admin, organization } = yield* stage()
        const verifier = makeVerifier()
        const { code } = yield* reader(approve(application, admin, challengeOf(verifier), { params: { redirect_uri } }))
        const granted = { application, code, verifier }
        const other = { client_id: `${application.client_id}?other` }
        expect(refused(yield* reader(redeemWith({ ...granted, application: other }, { redirect_uri })))).toEqual([
          400,
          "invalid_grant"
        ])
        expect(refused(yield* redeemWith(granted, { redirect_uri, client_secret: "x" }))).toEqual([
          401,
          "invalid_client"
        ])
        expect(refused(yield* redeemWith(granted, { redirect_uri }))).toEqual([401, "invalid_client"])
        const first = tokens(yield* reader(redeemWith(granted, { redirect_uri })))
        expect(yield* use(first.access_token)).toEqual(ok)
        const second = tokens(yield* reader(refreshWith(application, first.refresh_token)))
        const form = parse(new URLSearchParams({ refresh_token: second.refresh_token }).toString())
        const elsewhere = { id: application.client_id, issuer: { baseUrl: "https://acme.test", organizationId: null } }
        const foreign = yield* Effect.flip(
          refresh(elsewhere, yield* Effect.fromResult(form), { ip: null, requestId: null })
        )
        expect(foreign).toMatchObject({ error: "invalid_grant" })
        expect(refused(yield* reader(refreshWith(other, second.refresh_token)))).toEqual([400, "invalid_grant"])
        expect((yield* revokeWith(other, second.access_token)).status).toBe(200)
        expect(yield* use(second.access_token)).toEqual(ok)
        expect((yield* revokeWith(application, second.access_token)).status).toBe(200)
        expect(yield* use(second.access_token)).toEqual(invalidToken)
        expect(yield* connections(organization.id)).toMatchObject([
          { client_id: null, client_document: application.client_id, client_name: "Documented", client_known: null }
        ])
        expect((yield* World.journal(organization.id)).find(({ action }) => action === "oauth.connected"))
          .toMatchObject({
            details: { client_document: application.client_id }
          })
        expect(host.asked).toEqual(["/client.json"])
      }))

    it.effect("get no further tokens once that is off: what they have ends with its hour, or by revocation, and nothing is used up", () =>
      Effect.gen(function*() {
        const { application, reader, redirect_uri } = yield* documented
        const { admin } = yield* stage()
        const verifier = makeVerifier()
        const approved = approve(application, admin, challengeOf(verifier), { params: { redirect_uri } })
        const { code } = yield* reader(approved)
        const first = tokens(yield* reader(redeemWith({ application, code, verifier }, { redirect_uri })))
        expect(refused(yield* refreshWith(application, first.refresh_token))).toEqual([401, "invalid_client"])
        expect(yield* use(first.access_token)).toEqual(ok)
        const second = tokens(yield* reader(refreshWith(application, first.refresh_token)))
        yield* TestClock.adjust("1 hour")
        expect(refused(yield* refreshWith(application, second.refresh_token))).toEqual([401, "invalid_client"])
        expect(yield* use(second.access_token)).toEqual(invalidToken)
        expect((yield* revokeWith(application, second.refresh_token)).status).toBe(200)
        expect(refused(yield* reader(refreshWith(application, second.refresh_token)))).toEqual([400, "invalid_grant"])
      }))

    it.effect("lose an address with the document that named it, and a form whose name has changed since", () =>
      Effect.gen(function*() {
        const { application, document, host, reader, redirect_uri } = yield* documented
        const { admins, id } = yield* World.makeOrganization()
        const cookie = yield* Pages.signIn(id, admins.owner.id)
        const url = `/oauth/authorize?${query(application, challenge, { redirect_uri })}`
        const visits = Effect.gen(function*() {
          const get = Pages.visit("GET", url, { cookie })
          const shown = yield* get
          expect(shown.text).toContain("It is described at")
          expect(shown.text).toContain(`>${new URL(host.origin).host}<`)
          const { hidden } = Pages.formOf(shown, "/oauth/authorize")
          const allow = { ...hidden, decision: "allow", scope_type: "accounts", scope: "org:read" }
          host.answer = Documents.json({ ...document, client_name: "Another" })
          yield* TestClock.adjust("1 minute")
          expect((yield* Pages.visit("POST", url, { cookie, form: allow })).status).toBe(403)
          host.answer = Documents.json({ ...document, redirect_uris: [`${host.origin}/other`] })
          yield* TestClock.adjust("1 minute")
          for (const page of [yield* get, yield* Pages.visit("POST", url, { cookie, form: allow })]) {
            expect([page.status, page.location]).toEqual([400, null])
            expect(page.text).toContain("not registered")
          }
          host.answer = Documents.json([])
          yield* TestClock.adjust("1 minute")
          expect((yield* get).text).toContain("names a document that describes it")
          expect(yield* connections(id)).toEqual([])
        })
        yield* reader(visits)
      }))

    it.effect("are approved by their own address, and looked up so often a minute", () =>
      Effect.gen(function*() {
        const { application, host, reader, redirect_uri } = yield* documented
        const { admins, id } = yield* World.makeOrganization()
        const admin = yield* signIn(id, admins.admin.id)
        const asked = (client_id: string) =>
          Authorize.check(query({ client_id }, challenge, { redirect_uri }), issuer, Option.some(admin))
        yield* requireApproval.run({ organization: id, required: true })
        const checks = Effect.gen(function*() {
          expect(yield* asked(application.client_id)).toMatchObject({
            _tag: "Unapproved",
            application: application.client_id
          })
          yield* approveApplication.run({ organization: id, application: application.client_id })
          expect((yield* asked(application.client_id))._tag).toBe("Ready")
          for (let times = 1; times < 10; times++) {
            expect(yield* asked(`${host.origin}/${times}`)).toEqual({ _tag: "Page", reason: "document" })
          }
          const before = host.connections
          expect((yield* Effect.flip(asked(`${host.origin}/over`)))._tag).toBe("rate_limited")
          expect(host.connections).toBe(before)
        })
        yield* reader(checks)
      }))
  })
})
