import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Role, superadmins } from "../../src/domain/people/Access.ts"
import { ask, makeStage, naming } from "../support/http/requests.ts"
import { postgres } from "../support/postgres/database.ts"
import type { IdKind } from "../support/random.ts"
import * as World from "../support/world.ts"
import { allowed } from "./table.ts"

/** What the operation answers to the role about what the stage has. */
const answered = (id: string, role: Role) => {
  // Billing may read events, but none about an account; the request to the support is the owner's.
  const hidden = role === "billing" && id === "get_journal_event" ||
    !superadmins.includes(role) && (id === "get_support_request" || id === "get_admin")
  return hidden ? "resource_missing" : allowed(id, role)
}

describe("1 what a credential may do", () => {
  layer(World.world(postgres))((it) => {
    it.effect("S1-06, S1-09, S4.6-03, S4.9-02, S4.10-07, S4.11-03, S4.12-03, S4.13-05, S4.14-06, S7-07, S7-13: for every role and operation the role's rule holds: it succeeds with its own scope alone, is refused with all six, and a refusal changes nothing", () =>
      Effect.gen(function*() {
        for (const role of Role.literals) {
          const { account, department, every, organization, ready } = yield* makeStage()
          yield* World.grant(organization.id, organization.admins[role].id, {
            accounts: [account.id],
            departments: [department]
          })
          const keys = new Map<string, World.Person["key"]>()
          for (const scope of new Set(every.map(({ operation }) => operation.scope))) {
            keys.set(scope, (yield* World.makeKey(organization.id, organization.admins[role].id, [scope])).key)
          }
          const before = yield* World.snapshot(organization.id)
          for (const request of every) {
            const expected = answered(request.id, role)
            if (expected === "ok") continue
            // Fewer scopes allow no more, and more no less: the property of access shows that.
            const answer = yield* ask(request, organization.admins[role].key)
            expect([role, request.id, answer.body.error?.code]).toEqual([role, request.id, expected])
            expect(answer.body.error.type).toBe(answer.status === 403 ? "permission_error" : "not_found_error")
            expect(answer.headers.get("www-authenticate")).toBeNull()
          }
          expect(yield* World.snapshot(organization.id)).toEqual(before)
          for (const { id, operation, request } of ready(organization.admins[role])) {
            if (answered(id, role) !== "ok") continue
            const answer = yield* ask(yield* request, keys.get(operation.scope)!)
            expect([role, id, ...World.refusal(answer)]).toEqual([role, id, 200, undefined])
          }
        }
      }))

    it.effect("S1-07: whatever id of another organization is passed, nothing of it is read or changed", () =>
      Effect.gen(function*() {
        const mine = yield* makeStage()
        const theirs = yield* makeStage()
        const before = yield* World.snapshot(theirs.organization.id)
        const { admins, id: organizationId } = theirs.organization
        const foreign: ReadonlyArray<readonly [id: string, ...kinds: ReadonlyArray<IdKind>]> = [
          [theirs.account.id, "account"],
          [theirs.eventId, "event"],
          [admins.owner.id, "admin", "person"],
          [admins.owner.keyId, "credential", "key"],
          [organizationId, "account", "event"]
        ]
        for (const role of Role.literals) {
          const { key } = mine.organization.admins[role]
          for (const [id, ...kinds] of foreign) {
            yield* TestClock.adjust("1 minute")
            for (const request of naming(id, kinds).filter(({ input }) => JSON.stringify(input).includes(id))) {
              const { body, status } = yield* ask(request, key)
              const refused = [400, 403, 404].includes(status)
              expect([request.id, status, refused || status === 200 && body.data]).toEqual([
                request.id,
                status,
                refused || []
              ])
            }
            for (const query of ["account_id", "admin_id", "credential_id"]) {
              const { body, status } = yield* World.get(`/v1/journal?${query}=${id}`, key)
              expect([query, status === 200 ? body.data : status]).toEqual([
                query,
                id === organizationId ? 400 : []
              ])
            }
          }
          const texts = [
            yield* World.get("/v1/accounts", key),
            yield* World.get("/v1/journal", key),
            yield* World.get("/v1/journal/tail", key),
            yield* World.get("/v1/ai-connections", key)
          ].map(({ body }) => JSON.stringify(body))
          for (const text of texts) for (const [id] of foreign) expect(text).not.toContain(id)
        }
        expect(yield* World.snapshot(theirs.organization.id)).toEqual(before)
      }))
  })
})
