import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Role, superadmins } from "../../src/domain/Access.ts"
import { pglite } from "../support/database.ts"
import { ask, makeStage, requests } from "../support/requests.ts"
import * as World from "../support/world.ts"
import { allowed } from "./table.ts"

describe("1 what a credential may do", () => {
  layer(World.world(pglite))((it) => {
    it.effect("S1-06, S1-09, S4.6-03, S4.9-02, S4.10-07, S4.11-03, S4.12-03, S4.13-05, S4.14-06, S7-07, S7-13: for every role and operation the role's rule holds with all six scopes and with its own alone, and a refusal changes nothing", () =>
      Effect.gen(function*() {
        for (const role of Role.literals) {
          const { account, department, organization, requests } = yield* makeStage()
          yield* World.grant(organization.id, organization.admins[role].id, {
            accounts: [account.id],
            departments: [department]
          })
          const keys = new Map<string, World.Person["key"]>()
          for (const scope of new Set(requests.map(({ operation }) => operation.scope))) {
            keys.set(scope, (yield* World.makeKey(organization.id, organization.admins[role].id, [scope])).key)
          }
          for (const own of [false, true]) {
            // Rows are compared where requests are refused, one after another.
            let before: Effect.Success<ReturnType<typeof World.snapshot>> | undefined
            for (const request of requests) {
              const key = own ? keys.get(request.operation.scope)! : organization.admins[role].key
              // Billing may read events, but none about an account; the request to the support is the owner's.
              const expected = role === "billing" && request.id === "get_journal_event" ||
                  !superadmins.includes(role) && request.id === "get_support_request"
                ? "resource_missing"
                : allowed(request.id, role)
              before = expected === "ok" ? undefined : before ?? (yield* World.snapshot(organization.id))
              const answer = yield* ask(request, key)
              const said = answer.status === 200 ? "ok" : answer.body.error.code
              expect([role, request.id, said]).toEqual([role, request.id, expected])
              if (before === undefined) continue
              expect(yield* World.snapshot(organization.id)).toEqual(before)
              expect(answer.body.error.type).toBe(answer.status === 403 ? "permission_error" : "not_found_error")
              expect(answer.headers.get("www-authenticate")).toBeNull()
            }
          }
        }
      }))

    it.effect("S1-07: whatever id of another organization is passed, nothing of it is read or changed", () =>
      Effect.gen(function*() {
        const mine = yield* makeStage()
        const theirs = yield* makeStage()
        const before = yield* World.snapshot(theirs.organization.id)
        const foreign = [
          theirs.account.id,
          theirs.eventId,
          theirs.organization.id,
          theirs.organization.admins.owner.id,
          theirs.organization.admins.owner.keyId
        ]
        for (const role of Role.literals) {
          const { key } = mine.organization.admins[role]
          for (const id of foreign) {
            for (const request of requests(id, id).filter(({ path }) => path.includes(id))) {
              const answer = yield* ask(request, key)
              expect([400, 403, 404]).toContain(answer.status)
            }
            for (const query of ["account_id", "admin_id", "credential_id"]) {
              const { body, status } = yield* World.get(`/v1/journal?${query}=${id}`, key)
              expect([query, status === 200 ? body.data : status]).toEqual([
                query,
                id === theirs.organization.id ? 400 : []
              ])
            }
          }
          const texts = [
            yield* World.get("/v1/accounts", key),
            yield* World.get("/v1/journal", key),
            yield* World.get("/v1/journal/tail", key),
            yield* World.get("/v1/ai-connections", key)
          ].map(({ body }) => JSON.stringify(body))
          for (const text of texts) for (const id of foreign) expect(text).not.toContain(id)
        }
        expect(yield* World.snapshot(theirs.organization.id)).toEqual(before)
      }))
  })
})
