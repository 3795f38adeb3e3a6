import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as crypto from "node:crypto"
import * as Documents from "../../src/http/OpenApiDocument.ts"
import * as Provisioning from "../../src/layers/sql/Provisioning.ts"
import { operations } from "../../src/operations/index.ts"
import { setAdminRole } from "../../src/operations/people/set_admin_role.ts"
import { operations as served } from "../added/index.ts"
import { setArchiveKey } from "../support/archive/archiveKeys.ts"
import { document } from "../support/http/documented.ts"
import { ask, changing, makeStage, naming } from "../support/http/requests.ts"
import { postgres } from "../support/postgres/database.ts"
import { conflicts, isPrepared, leftOut } from "../support/preparations.ts"
import { idKindOf } from "../support/random.ts"
import * as Repeated from "../support/repeated.ts"
import * as HeldSecrets from "../support/security/heldSecrets.ts"
import * as World from "../support/world.ts"
import { contract, lines, table } from "./table.ts"

const { paths } = JSON.parse(JSON.stringify(Documents.make()))

const inBraces = (path: string) => path.replaceAll(/:(\w+)/g, "{$1}")

describe("4 operations, as declared", () => {
  it("S4-04, S4-05, S4-06, S4-07, S4-08, S4-09, S4-10, S4-11, S4-12, S4-13, S4-14, S4-15, S4-16, S4-17: the declarations are the specification's table, and hold nothing else", () => {
    const declared = operations.map(({ id, kind, method, path, scope }) => [
      id,
      method,
      inBraces(path),
      scope,
      ["read", "live", "unlocked", "stream", "sealed", "sealed_stream"].includes(kind) ? "yes" : "no"
    ])
    expect(declared).toEqual(table.map((row) => row.slice(0, 5)))
  })

  it("are in the document with the table's ids, methods, paths and scopes, both ways", () => {
    const documented = Object.entries<any>(paths).flatMap(([path, methods]) =>
      Object.entries<any>(methods).map(([method, entry]) => [
        entry.operationId,
        method.toUpperCase(),
        path,
        entry["x-scope"]
      ])
    )
    const sorted = (rows: ReadonlyArray<ReadonlyArray<string>>) => rows.map((row) => row.join(" ")).sort()
    expect(sorted(documented)).toEqual(sorted(table.map((row) => row.slice(0, 4))))
  })

  it("S1-14, S4.16-06: the three operations that delete data of the archive need a confirm_phrase, and no other takes one", () => {
    const taking = Object.values<any>(paths).flatMap((methods) => Object.values<any>(methods)).flatMap((entry) => {
      const { properties = {}, required = [] } = entry.requestBody?.content["application/json"].schema ?? {}
      const named = "confirm_phrase" in properties ||
        entry.parameters?.some(({ name }: { name: string }) => name === "confirm_phrase")
      return named ? [[entry.operationId, required.includes("confirm_phrase"), entry["x-destructive"]]] : []
    })
    expect(taking.toSorted()).toEqual([
      ["confirm_archive_cleanup", true, true],
      ["delete_account_with_archive", true, true],
      ["delete_whole_archive", true, true]
    ])
  })

  it("S4-20, S1-12: what signs sessions out, ends protection or deletes data is destructive, in its declaration and in the document, and none of the fourteen", () => {
    const marked = Object.values<any>(paths).flatMap((methods) => Object.values<any>(methods))
      .filter((entry) => entry["x-destructive"] === true).map(({ operationId }) => operationId)
    expect(marked.toSorted()).toEqual(
      operations.filter(({ destructive }) => destructive).map(({ id }) => id).toSorted()
    )
    expect(marked.filter((id) => contract.includes(id))).toEqual([])
    const signingOut = ["sign_out_session", "sign_out_other_sessions"]
    const endingProtection = [
      "offboard_account",
      "remove_passkey",
      "remove_paired_session",
      "remove_recovery_email",
      "remove_two_fa_password"
    ]
    const deleting = [
      "confirm_archive_cleanup",
      "delete_account_with_archive",
      "delete_department",
      "delete_whole_archive",
      "redact_messages",
      "remove_admin",
      "set_archive_retention"
    ]
    expect(marked.toSorted()).toEqual([...signingOut, ...endingProtection, ...deleting].toSorted())
  })

  it("are declared idempotent, but for those that make something", () => {
    const once = operations.filter(({ idempotent }) => !idempotent).map(({ id }) => id)
    expect(once.filter((id) => contract.includes(id))).toEqual([])
    expect(once).toEqual(expect.arrayContaining(["create_api_key", "create_department"]))
  })

  it("S1-18, S1-19, S1-21, S1-22, S1-24: nothing signs up or in, accepts an invitation, switches organizations, pays, handles the archive password or the viewer, signs in by QR code, or serves help, updates or webhooks", () => {
    const outside =
      /sign_?-?(?:up|in)|log_?-?in|accept_?-?invit|switch|buy|purchase|pay|upgrade|cancel|card|password|viewer|decrypt|qr|help|update_?-?check|on_?-?prem|webhook/
    // The service signs in to an account of a holder, who gives the code: nobody signs in to the service so.
    // And what secures an account on the messenger has its names from there.
    const securing = /^(?:set|confirm|remove)_(?:two_fa_password|login_email|recovery_email)$/
    const others = operations.filter(({ id, kind, params }) =>
      // No subscription is cancelled, but a cleanup is.
      kind !== "login" && id !== "cancel_archive_cleanup" && !("login_id" in params) && !securing.test(id)
    )
    const text = others.flatMap(({ id, path }) => [id, path])
    expect(text.filter((name) => outside.test(name))).toEqual([])
    expect(operations.map(({ id }) => id)).toEqual(table.map(([id]) => id))
    const members = others.flatMap(({ body, params, query }) => Object.keys({ ...params, ...query, ...body }))
    // The one password is the console's, by which a person shows that they are there (section 5.1).
    expect([...new Set(members.filter((name) => /password/.test(name)))]).toEqual(["current_password"])
    expect(
      members.filter((name) =>
        name !== "current_password" && /password|card|qr|code|token|invitation|organization/.test(name)
      )
    ).toEqual([])
  })

  it("S4.15-03: the operations that page state their range and default of limit", () => {
    const limits = Object.entries<any>(paths).flatMap(([path, { get }]) =>
      (get?.parameters ?? []).filter(({ name }: any) => name === "limit").map(({ schema }: any) => [path, schema])
    )
    const own: Readonly<Record<string, object>> = {
      "/v1/journal/tail": { maximum: 500, default: 100 },
      "/v1/account-search": { maximum: 50, default: 20 }
    }
    for (const [path, schema] of limits) {
      expect([path, schema]).toEqual([
        path,
        expect.objectContaining({ type: "integer", minimum: 1, maximum: 100, default: 50, ...own[path] })
      ])
    }
    expect(limits.map(([path]) => path)).toEqual(expect.arrayContaining(["/v1/accounts", "/v1/journal"]))
  })
})

describe("4 operations, as served", () => {
  layer(World.world(postgres))((it) => {
    it.effect("S4-19: each reading operation leaves every row of the organization as it was", () =>
      Effect.gen(function*() {
        const { every, organization, ready } = yield* makeStage()
        const reading = every.filter(({ id }) => !changing.has(id) && !isPrepared(id))
        const prepared = ready(organization.admins.owner).filter(({ id }) => !changing.has(id) && isPrepared(id))
        const requests = [...reading, ...(yield* Effect.forEach(prepared, ({ request }) => request))]
        // A search of the archive leaves its entry in the journal, and nothing else.
        const rows = Effect.map(
          World.snapshot(organization.id),
          (tables) => Object.entries(tables).filter(([table]) => !table.startsWith("journal_"))
        )
        const before = yield* World.snapshot(organization.id)
        const withoutJournal = yield* rows
        for (const request of requests.filter(({ id }) => id !== "search_messages")) {
          const answer = yield* ask(request, organization.admins.owner.key)
          expect([request.id, answer.status]).toEqual([request.id, 200])
          expect(yield* World.snapshot(organization.id)).toEqual(before)
        }
        for (const request of requests.filter(({ id }) => id === "search_messages")) {
          expect((yield* ask(request, organization.admins.owner.key)).status).toBe(200)
          expect(yield* rows).toEqual(withoutJournal)
        }
      }))

    it.effect("S4-21: repeating a change changes nothing more, and a repeated pause or resume answers its 409", () =>
      Effect.gen(function*() {
        const { organization, ready } = yield* makeStage()
        const { owner } = organization.admins
        for (const { id, operation, request: prepared } of ready(owner)) {
          if (!changing.has(id) || !operation.idempotent || leftOut.repeats(operation)) continue
          const conflict = conflicts[id]
          const request = yield* prepared
          const before = yield* World.snapshot(organization.id)
          const first = yield* ask(request, owner.key)
          expect([id, ...World.refusal(first)]).toEqual([id, 200, undefined])
          expect(yield* World.snapshot(organization.id)).not.toEqual(before)
          const made = { body: first.body, organizationId: organization.id, key: owner.key }
          expect([id, ...(yield* Repeated.faults(operation, request.input, made))]).toEqual([id])
          if (conflict !== undefined) {
            expect([id, ...World.refusal(yield* ask(request, owner.key))]).toEqual([id, 409, conflict])
          }
        }
      }))
  })

  layer(World.world(postgres))((it) => {
    it.effect("S4-03: each operation answers 400, 401, 403 and 429, and with an id in its path 404, as its document says", () =>
      Effect.gen(function*() {
        const { every, organization } = yield* makeStage()
        const { id: owner, key } = organization.admins.owner
        const { current_password } = setAdminRole.sample.request
        yield* Provisioning.password(organization.id, owner, Redacted.make(String(current_password)))
        yield* setArchiveKey(organization.id)
        const scopeless = yield* World.makePerson(organization.id, "superadmin", { scopes: [] })
        const spent = yield* World.makePerson(organization.id, "superadmin")
        // All requests by one key would be more than a minute admits.
        const { key: further } = yield* World.makeKey(organization.id, owner)
        yield* World.spend(spent.keyId)
        const id = crypto.randomUUID()
        const nothing = naming(id)
        for (const [place, request] of every.entries()) {
          const [, , path] = lines.find(([known]) => known === request.id)!
          const withId = path.includes("{")
          const answered = [
            yield* ask({ ...request, path: `${request.path}${request.path.includes("?") ? "&" : "?"}unknown=1` }, key),
            yield* ask(request),
            yield* ask(request, scopeless.key),
            yield* ask(request, spent.key),
            ...(withId ? [yield* ask(nothing[place]!, further)] : [])
          ].map((answer) => World.refusal(answer).slice(0, 2))
          expect([request.id, answered]).toEqual([request.id, [
            [400, "parameter_invalid"],
            [401, "invalid_api_key"],
            [403, "insufficient_scope"],
            [429, "rate_limited"],
            ...(withId ? [[404, "resource_missing"]] : [])
          ]])
          const documented = Object.keys(document.paths[path]?.[request.method.toLowerCase()]?.responses ?? {})
          expect(documented).toEqual(expect.arrayContaining(answered.map(([status]) => String(status))))
          const inBody = JSON.stringify(nothing[place]!.body ?? {}).includes(id) ||
            Object.keys(request.operation.body).some((name) =>
              name === "target" || idKindOf(request.operation, name) !== undefined
            )
          expect([request.id, documented.includes("404")]).toEqual([request.id, withId || inBody])
        }
      }))

    it.effect("S4-01, S4-02: success and every kind of refusal are JSON with a Request-Id of their own", () =>
      Effect.gen(function*() {
        const { account, every, organization } = yield* makeStage()
        const { key } = organization.admins.owner
        const spent = yield* World.makePerson(organization.id, "superadmin")
        yield* World.spend(spent.keyId)
        const scopeless = yield* World.makePerson(organization.id, "superadmin", { scopes: [] })
        const broken = yield* World.makeLiveAccount(organization.id)
        yield* HeldSecrets.hold(organization.id, account.id, { password: "hunter2" })
        yield* HeldSecrets.move(organization.id, account.id, broken.id)
        const answers = [
          ...(yield* Effect.forEach(every, (request) => ask(request, key))),
          yield* World.get("/v1/accounts?limit=0", key),
          yield* World.send("GET", "/v1/organization"),
          yield* World.get("/v1/organization", scopeless.key),
          yield* World.get(`/v1/accounts/${crypto.randomUUID()}`, key),
          yield* World.post(`/v1/accounts/${account.id}/resume`, key),
          yield* World.get("/v1/organization", spent.key),
          yield* World.get(`/v1/accounts/${broken.id}/messenger-profile`, key)
        ]
        expect(answers.slice(-7).map(({ status }) => status)).toEqual([400, 401, 403, 404, 409, 429, 500])
        for (const answer of answers) {
          expect(answer.headers.get("content-type")).toBe("application/json")
          expect(answer.headers.get("request-id")).toMatch(/^req_[0-9a-z]{26}$/)
        }
        expect(new Set(answers.map(({ headers }) => headers.get("request-id"))).size).toBe(answers.length)
        for (
          const path of [
            "/organization",
            "/v2/organization",
            "/V1/organization",
            "/v1/organization/",
            "//v1/organization"
          ]
        ) {
          expect([path, ...World.refusal(yield* World.get(path, key))]).toEqual([path, 404, "resource_missing"])
        }
      }))

    it.effect("S4-01: a body that is not JSON is refused, whatever it says", () =>
      Effect.gen(function*() {
        const { admins } = yield* World.makeOrganization()
        const send = (type: string | null, raw: string) =>
          World.send("PUT", "/v1/settings/notifications", {
            key: admins.owner.key,
            raw,
            headers: type === null ? {} : { "content-type": type }
          })
        const good = JSON.stringify({ recipients: "owner_superadmins" })
        for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"]) {
          expect(World.refusal(yield* send(type, good))).toEqual([400, "parameter_invalid", "Content-Type"])
        }
        expect(World.refusal(yield* send("application/json", "recipients=owner"))).toEqual([
          400,
          "parameter_invalid",
          "body"
        ])
        expect((yield* World.get("/v1/settings/notifications", admins.owner.key)).body.recipients).toBe("owner")
        expect((yield* send("application/json; charset=utf-8", good)).status).toBe(200)
      }))

    it.effect("S4-04, S4-05, S4-06, S4-07, S4-08, S4-09, S4-10, S4-11, S4-12, S4-13, S4-14, S4-15, S4-16, S4-17: each answers at its method and path, and at no other method", () =>
      Effect.gen(function*() {
        const { every, organization, ready } = yield* makeStage()
        for (const { id, operation, request } of ready(organization.admins.owner)) {
          const answer = yield* ask(yield* request, organization.admins.owner.key)
          const shape = Reflect.get(operation.sample.answer, "object")
          expect([id, answer.status, answer.body?.object]).toEqual([id, 200, shape])
        }
        for (const { operation, path } of every) {
          const own = served.filter((other) => other.path === operation.path).map(({ method }): string => method)
          for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"].filter((name) => !own.includes(name))) {
            const answer = yield* World.send(method, path, { key: organization.admins.superadmin.key })
            expect([method, path, ...World.refusal(answer)]).toEqual([method, path, 404, "resource_missing"])
          }
        }
      }))
  })
})
