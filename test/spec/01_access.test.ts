import { describe, expect, layer } from "@effect/vitest"
import { Effect, type Redacted } from "effect"
import * as crypto from "node:crypto"
import { Caller, Role } from "../../src/domain/Access.ts"
import type * as Operation from "../../src/kernel/Operation.ts"
import { operations } from "../../src/operations/index.ts"
import { Credentials } from "../../src/ports/Credentials.ts"
import { pglite } from "../support/database.ts"
import { ask, changing, makeStage, type OperationId, type Request, requests } from "../support/requests.ts"
import * as World from "../support/world.ts"

const moment = new Date(0)

describe("1 what a credential may do", () => {
  layer(World.world(pglite))((it) => {
    /** What every role may do with a key for every scope, by section 4. */
    const matrix: Record<
      OperationId,
      readonly [owner: string, superadmin: string, admin: string, billing: string, archive: string]
    > = {
      get_organization: ["ok", "ok", "ok", "ok", "ok"],
      list_ai_connections: ["ok", "ok", "ok", "ok", "ok"],
      get_mail_preferences: ["ok", "ok", "ok", "ok", "ok"],
      set_mail_preferences: ["ok", "ok", "ok", "ok", "ok"],
      get_notification_recipients: ["ok", "ok", "ok", "ok", "ok"],
      set_notification_recipients: ["ok", "ok", "superadmin_required", "superadmin_required", "superadmin_required"],
      list_protected_accounts: ["ok", "ok", "ok", "ok", "ok"],
      get_account: ["ok", "ok", "ok", "ok", "ok"],
      get_account_messenger_profile: ["ok", "ok", "ok", "role_forbidden", "role_forbidden"],
      update_messenger_profile: ["ok", "ok", "ok", "role_forbidden", "role_forbidden"],
      pause_protection: ["ok", "ok", "ok", "role_forbidden", "role_forbidden"],
      resume_protection: ["ok", "ok", "ok", "role_forbidden", "role_forbidden"],
      set_account_role_label: ["ok", "ok", "ok", "role_forbidden", "role_forbidden"],
      set_messenger_username: ["ok", "ok", "ok", "role_forbidden", "role_forbidden"],
      list_journal_events: ["ok", "ok", "ok", "ok", "ok"],
      get_journal_event: ["ok", "ok", "ok", "resource_missing", "ok"],
      tail_journal_events: ["ok", "ok", "superadmin_required", "superadmin_required", "superadmin_required"],
      find_accounts: ["ok", "ok", "ok", "ok", "ok"]
    }

    it.effect("S1-06, S1-09: for every role and operation the role's rule holds with all six scopes and with its own alone, and a refusal changes nothing", () =>
      Effect.gen(function*() {
        for (const [place, role] of Role.literals.entries()) {
          const { account, organization, requests } = yield* makeStage()
          yield* World.grant(organization.id, organization.admins[role].id, { accounts: [account.id] })
          for (const scopes of [undefined, "own"]) {
            for (const request of requests) {
              const operation = operations.find(({ id }) => id === request.id)!
              const { key } = scopes === undefined
                ? organization.admins[role]
                : yield* World.makeKey(organization.id, organization.admins[role].id, [operation.scope])
              const before = yield* World.snapshot(organization.id)
              const answer = yield* ask(request, key)
              const said = answer.status === 200 ? "ok" : answer.body.error.code
              expect([role, request.id, said]).toEqual([role, request.id, matrix[request.id][place]])
              if (said !== "ok") expect(yield* World.snapshot(organization.id)).toEqual(before)
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

    /** Calls the operation as code inside the service does: the way that a console takes. */
    const inside = Effect.fnUntraced(function*(request: Request, accountId: string, key: Redacted.Redacted) {
      const credentials = yield* Credentials
      const caller = {
        ...(yield* credentials.authenticate(key, `${World.baseUrl}/v1`)),
        via: "console" as const,
        ip: null,
        requestId: null
      }
      const operation: Operation.Any = operations.find(({ id }) => id === request.id)!
      const input = {
        ...(request.path.includes(accountId) ? { account_id: accountId } : {}),
        ...(request.body as object)
      }
      return yield* (operation.call(input) as Effect.Effect<unknown, { _tag: string; param?: string }, any>).pipe(
        Effect.provideService(Caller, caller),
        Effect.match({
          onSuccess: () => "ok",
          onFailure: ({ _tag, param }) => [_tag, ...(param === undefined ? [] : [param])]
        })
      )
    })

    it.effect("S1-09: what a change is refused inside the service it is refused over HTTP, with the same code", () =>
      Effect.gen(function*() {
        const { account, organization, requests: usual } = yield* makeStage()
        const paused = yield* World.makeAccount(organization.id, { facts: { paused_at: moment } })
        const gone = yield* World.makeAccount(organization.id, { facts: { offboarded_at: moment } })
        const taken = yield* World.makeLiveAccount(organization.id, { username: `taken${crypto.randomInt(1e9)}` })
        const username =
          (yield* World.get(`/v1/accounts/${taken.id}/messenger-profile`, organization.admins.owner.key)).body.username
        const choices = { security: true, storage: true, news: true, offers: true }
        const joining = yield* World.makePerson(organization.id, "superadmin", { facts: { joined_at: null } })
        const bodies: Record<string, ReadonlyArray<unknown>> = {
          set_mail_preferences: [choices, { security: true }, { security: 1, storage: true, news: true, offers: true }],
          set_notification_recipients: [{ recipients: "owner" }, { recipients: "nobody" }, {}],
          update_messenger_profile: [{ about: "x".repeat(71) }, { about: "x".repeat(141) }, { first_name: "" }],
          set_account_role_label: [{}, { role_label: "x".repeat(61) }],
          set_messenger_username: [{ username: "@ada" }, { username: "a" }, { username }]
        }
        const refused = new Set<string>()
        for (const id of changing) {
          const request = usual.find((known) => known.id === id)!
          for (
            const { key } of [
              organization.admins.owner,
              joining,
              organization.admins.admin,
              organization.admins.archive
            ]
          ) {
            const accounts = request.path.includes(account.id)
              ? [account.id, paused, gone, crypto.randomUUID()]
              : [account.id]
            for (const accountId of accounts) {
              for (const body of bodies[id] ?? [undefined]) {
                const wrong = { ...request, path: request.path.replace(account.id, accountId), body }
                if (id === "pause_protection" && accountId === account.id) continue
                if (id === "resume_protection" && accountId === paused) continue
                const told = yield* inside(wrong, accountId, key)
                const answer = yield* ask(wrong, key)
                expect([wrong, answer.status === 200 ? "ok" : World.refusal(answer).slice(1)]).toEqual([wrong, told])
                if (told !== "ok") refused.add(told[0]!)
              }
            }
          }
        }
        expect([...refused].sort()).toEqual([
          "bio_too_long",
          "mail_preferences_unavailable",
          "no_session",
          "not_active",
          "not_paused",
          "parameter_invalid",
          "resource_missing",
          "role_forbidden",
          "superadmin_required",
          "username_invalid",
          "username_taken"
        ])
      }))
  })
})
