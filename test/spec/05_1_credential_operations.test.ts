import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { Caller, Role, type Scope } from "../../src/domain/people/Access.ts"
import * as Documents from "../../src/http/OpenApiDocument.ts"
import { createApiKey } from "../../src/operations/credentials/create_api_key.ts"
import { Credentials } from "../../src/ports/credentials/Credentials.ts"
import * as Pages from "../support/http/pages.ts"
import { forSpecification } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const path = "/v1/api-keys"

const create = (key: World.Person["key"] | string, body: object = {}) =>
  World.send("POST", path, { key, body: { label: "Report", scopes: ["org:read"], ...body } })

const remove = (at: string, id: string, key: World.Person["key"]) => World.send("DELETE", `/v1/${at}/${id}`, { key })

const rows = (organizationId: string, table: "api_key" | "ai_connection") =>
  World.query<{ id: string; label: string; revoked_at: Date | null }>(
    organizationId,
    (sql) => sql`select * from ${sql(table)} where organization_id = ${organizationId} order by created_at, id`
  )

const reports = (organizationId: string) =>
  Effect.map(rows(organizationId, "api_key"), (all) => all.filter(({ label }) => label === "Report").length)

/** A connection of the admin. */
const connect = Effect.fnUntraced(
  function*(organizationId: string, adminId: string, kind: "oauth" | "token" = "oauth") {
    const id = crypto.randomUUID()
    yield* World.addRows("ai_connection", organizationId, [{
      id,
      admin_id: adminId,
      kind,
      label: "Helper",
      ...(kind === "oauth" ? { client_name: "Helper", client_host: "app.example" } : {}),
      mode: "cloud",
      scopes: ["org:read"],
      scope_type: "accounts",
      created_at: new Date(0)
    }])
    return id
  }
)

describe("5.1 creating and revoking credentials, as documented", () => {
  it("the console password is never answered, and said to be written only", () => {
    const document = JSON.parse(JSON.stringify(Documents.make()))
    const { properties, required } = document.paths[path].post.requestBody.content["application/json"].schema
    expect(properties.current_password).toMatchObject({ type: "string", writeOnly: true, format: "password" })
    expect(required).toEqual(["label", "scopes"])
    expect(JSON.stringify(document.components.schemas)).not.toContain("current_password")
    expect(Object.keys(document.paths[path].post.responses)).toContain("429")
  })
})

describe("5.1 creating and revoking credentials", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S2.8-13, case 68: every role creates a key of its own, whose secret is answered once and kept nowhere", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          for (const role of Role.literals) {
            const { body, headers, status } = yield* create(admins[role].key, { label: " Report " })
            expect([role, status, headers.get("cache-control")]).toEqual([role, 200, "no-store"])
            expect(body).toMatchObject({
              object: "api_key",
              label: "Report",
              scopes: ["org:read"],
              mine: true,
              last_used_at: null,
              revoked_at: null,
              secret: expect.stringMatching(/^osc_live_[0-9A-Za-z]{49}$/)
            })
            const seesAddresses = role === "owner" || role === "superadmin"
            expect([role, body.owner_email === null]).toEqual([role, !seesAddresses])
            expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(90 * 86_400_000)
            expect((yield* World.get("/v1/organization", body.secret)).status).toBe(200)
            const stored = JSON.stringify([yield* World.snapshot(id), yield* World.journal(id)])
            expect(stored).not.toContain(body.secret.slice(9, 52))
            const listed = yield* World.get("/v1/ai-connections", admins[role].key)
            const shown = listed.body.api_keys.find((key: { id: string }) => key.id === body.id)
            expect(shown.owner_email).toBe(body.owner_email)
            expect(JSON.stringify(listed.body)).not.toContain(body.secret.slice(9, 52))
          }
        }))

      it.effect("S5.1-06, case 71: any scope beyond the two that read needs the password, and the journal and no answer holds it", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          yield* Pages.givePassword(id, admins.admin.id)
          const write = { scopes: ["org:read", "accounts:write"] }
          expect(World.refusal(yield* create(admins.admin.key, write)))
            .toEqual([403, "password_required", "current_password"])
          expect(World.refusal(yield* create(admins.admin.key, { ...write, current_password: "" })))
            .toEqual([403, "password_incorrect", "current_password"])
          expect(World.refusal(yield* create(admins.admin.key, { ...write, current_password: "wrong" })))
            .toEqual([403, "password_incorrect", "current_password"])
          expect(yield* reports(id)).toBe(0)
          const made = yield* create(admins.admin.key, { ...write, current_password: Pages.password })
          expect([made.status, made.body.scopes]).toEqual([200, ["org:read", "accounts:write"]])
          expect(JSON.stringify([made.body, yield* World.journal(id)])).not.toContain(Pages.password)
          expect((yield* create(admins.admin.key, { scopes: ["archive:read", "org:read"] })).status).toBe(200)
          expect(World.refusal(yield* create(admins.owner.key, { ...write, current_password: "x".repeat(1025) })))
            .toEqual([400, "parameter_invalid", "current_password"])
        }))

      it.effect("a key carries no scope that the credential lacks, and a limited credential creates none", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          yield* Pages.givePassword(id, admins.owner.id)
          const some: ReadonlyArray<Scope> = ["org:read", "admins:write"]
          const { key } = yield* World.makeKey(id, admins.owner.id, some)
          const exceeding = { scopes: ["org:read", "accounts:write"], current_password: Pages.password }
          expect(World.refusal(yield* create(key, exceeding))).toEqual([403, "scope_exceeded", "scopes"])
          expect(World.refusal(yield* create(key, { scopes: ["archive:read"] }))).toEqual([
            403,
            "scope_exceeded",
            "scopes"
          ])
          expect((yield* create(key, { scopes: some, current_password: Pages.password })).status).toBe(200)
          const credentials = yield* Credentials
          const known = yield* credentials.actAs(id, yield* Pages.emailOf(id, admins.owner.id))
          for (const scopeType of ["accounts", "departments", "all"] as const) {
            const limited = Caller.of({
              ...known,
              limit: { scopeType, connectionId: "" },
              via: "embedded",
              ip: null,
              requestId: null
            })
            const refused = yield* createApiKey.call({ label: "Report", scopes: ["org:read"] }).pipe(
              Effect.provideService(Caller, limited),
              Effect.flip
            )
            expect(refused._tag).toBe("scope_exceeded")
          }
          expect(yield* reports(id)).toBe(1)
        }))

      it.effect("S5.1-03, S5.1-04: an expiry is kept to the millisecond, and null is never", () =>
        Effect.gen(function*() {
          const { admins } = yield* World.makeOrganization()
          const day = (yield* create(admins.owner.key, { expires_in_days: 1 })).body
          const never = (yield* create(admins.owner.key, { expires_in_days: null })).body
          expect(never.expires_at).toBe(null)
          yield* TestClock.adjust(86_399_999)
          expect((yield* World.get("/v1/organization", day.secret)).status).toBe(200)
          yield* TestClock.adjust(1)
          expect((yield* World.get("/v1/organization", day.secret)).status).toBe(401)
          yield* TestClock.adjust("4000 days")
          expect((yield* World.get("/v1/organization", never.secret)).status).toBe(200)
        }))

      it.effect("what a key cannot be is refused with the input at fault", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const wrong: ReadonlyArray<readonly [object, string]> = [
            [{ label: "" }, "label"],
            [{ label: " \n " }, "label"],
            [{ label: "x".repeat(61) }, "label"],
            [{ scopes: [] }, "scopes"],
            [{ scopes: ["everything"] }, "scopes"],
            [{ scopes: "org:read" }, "scopes"],
            [{ expires_in_days: 0 }, "expires_in_days"],
            [{ expires_in_days: 3651 }, "expires_in_days"],
            [{ expires_in_days: 1.5 }, "expires_in_days"],
            [{ expires_at: null }, "expires_at"]
          ]
          for (const [body, param] of wrong) {
            expect([body, ...World.refusal(yield* create(admins.owner.key, body))])
              .toEqual([body, 400, "parameter_invalid", param])
          }
          expect(yield* World.journal(id)).toEqual([])
        }))

      it.effect("over MCP no key is made, because nobody would hold its secret", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const credentials = yield* Credentials
          const known = yield* credentials.actAs(id, yield* Pages.emailOf(id, admins.owner.id))
          const made = (via: "mcp" | "embedded") =>
            Effect.provideService(
              createApiKey.call({ label: "Report", scopes: ["org:read"] }),
              Caller,
              Caller.of({ ...known, via, ip: null, requestId: null })
            )
          expect((yield* Effect.flip(made("mcp")))._tag).toBe("console_page_required")
          expect(yield* World.journal(id)).toEqual([])
          const { secret } = yield* made("embedded")
          expect(String(secret)).toBe("<redacted>")
          expect(secret === null ? "" : Redacted.value(secret)).toMatch(/^osc_live_/)
        }))

      it.effect("S5.1-09, case 70: a revoked key answers 401 at once; owner and superadmins revoke every key, others their own", () =>
        Effect.gen(function*() {
          for (const role of Role.literals) {
            const { admins } = yield* World.makeOrganization()
            const everything = role === "owner" || role === "superadmin"
            for (const victim of Role.literals.filter((other) => other !== role)) {
              const answer = yield* remove("api-keys", admins[victim].keyId, admins[role].key)
              expect([role, victim, answer.status]).toEqual([role, victim, everything ? 200 : 404])
              if (!everything) expect(World.refusal(answer)).toEqual([404, "resource_missing", "api_key_id"])
              expect((yield* World.get("/v1/organization", admins[victim].key)).status).toBe(everything ? 401 : 200)
            }
            const { body } = yield* create(admins[role].key)
            expect((yield* remove("api-keys", body.id, admins[role].key)).body).toMatchObject({
              object: "api_key",
              id: body.id,
              revoked_at: expect.any(String)
            })
            expect((yield* World.get("/v1/organization", body.secret)).status).toBe(401)
          }
        }))

      it.effect("revoking again answers the same and journals nothing more", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const connection = yield* connect(id, admins.admin.id)
          for (
            const [at, target, action] of [
              ["api-keys", admins.admin.keyId, "api_key.revoked"],
              ["ai-connections", connection, "ai_connection.revoked"]
            ] as const
          ) {
            const first = yield* remove(at, target, admins.owner.key)
            yield* TestClock.adjust("1 minute")
            const again = yield* remove(at, target.toUpperCase(), admins.owner.key)
            expect([first.status, again.status, again.body]).toEqual([200, 200, first.body])
            const events = (yield* World.journal(id)).filter((event) => event.action === action)
            expect(events).toMatchObject([{
              outcome: "done",
              actor_admin_id: admins.owner.id,
              credential_id: admins.owner.keyId,
              via: "rest",
              target_id: target
            }])
          }
        }))

      it.effect("a connection is disconnected by its admin and by owner and superadmins; nobody else learns of it", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          const other = yield* World.makeOrganization()
          const theirs = yield* connect(other.id, other.admins.owner.id)
          const own = yield* connect(id, admins.billing.id)
          const hidden = yield* connect(id, admins.billing.id, "token")
          const unknown = yield* remove("ai-connections", crypto.randomUUID(), admins.billing.key)
          for (
            const [target, key] of [
              [theirs, admins.owner.key],
              [own, admins.admin.key],
              [own, admins.archive.key],
              [hidden, admins.billing.key]
            ] as const
          ) {
            const answer = yield* remove("ai-connections", target, key)
            expect([answer.status, answer.body]).toEqual([404, unknown.body])
          }
          expect((yield* rows(id, "ai_connection")).every(({ revoked_at }) => revoked_at === null)).toBe(true)
          const answer = yield* remove("ai-connections", own, admins.billing.key)
          expect([answer.status, answer.body.object, typeof answer.body.content_notice]).toEqual([
            200,
            "ai_connection",
            "string"
          ])
          expect((yield* remove("ai-connections", hidden, admins.superadmin.key)).status).toBe(200)
          expect((yield* rows(id, "ai_connection")).every(({ revoked_at }) => revoked_at !== null)).toBe(true)
          expect((yield* rows(other.id, "ai_connection")).every(({ revoked_at }) => revoked_at === null)).toBe(true)
          const foreign = yield* remove("api-keys", other.admins.owner.keyId, admins.owner.key)
          expect(World.refusal(foreign)).toEqual([404, "resource_missing", "api_key_id"])
        }))
    })
  })
})
