import { describe, expect, layer } from "@effect/vitest"
import { Arbitrary, Effect } from "effect"
import { TestClock } from "effect/testing"
import { OrganizationId, Role } from "../../src/domain/people/Access.ts"
import { closeAbandonedIntents, closeAllIntents } from "../../src/jobs/journal/close_abandoned_intents.ts"
import { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { verify } from "../../src/layers/sql/journal/JournalChain.ts"
import { Journal } from "../../src/ports/journal/Journal.ts"
import * as Fixtures from "../support/fixtures.ts"
import * as Populated from "../support/populated.ts"
import { postgres } from "../support/postgres/database.ts"
import * as Random from "../support/random.ts"
import * as World from "../support/world.ts"

const journalTables = new Set([
  "journal_event",
  "journal_head",
  "journal_place",
  "journal_checkpoint",
  "pending_change"
])

/** What a refused change leaves too: its attempt is counted, and the engine looks again at what it may have left. */
const alsoWhenRefused: Readonly<Record<string, ReadonlyArray<string> | "every column">> = {
  account_attempt: "every column",
  monitor: ["look_at", "facets"]
}

/** Everything that an operation may change, apart from the journal. */
const state = Effect.fnUntraced(function*({ id, live }: Populated.Populated) {
  const tables = Object.entries(yield* World.snapshot(id)).flatMap(([table, rows]) => {
    const left = alsoWhenRefused[table] ?? []
    return journalTables.has(table) || left === "every column"
      ? []
      : [[
        table,
        rows.map((row) => Object.fromEntries(Object.entries(row as object).filter(([name]) => !left.includes(name))))
      ]]
  })
  return { tables: Object.fromEntries(tables), messenger: yield* Populated.onMessenger(live) }
})

/** Mostly changes, of accounts with and without a session. */
const step = Arbitrary.all({
  role: Random.oneOf(Random.pickOf(...Role.literals), Random.pickOf<Role>("owner", "admin")),
  draft: Random.oneOf(Random.drafts(Random.changes), Random.drafts(Random.changes), Random.drafts())
})

/** A change of each kind that the operations make on their own data, refused by nothing. */
const writes = ({ ids }: Populated.Populated): ReadonlyArray<readonly [string, string, unknown?]> => [
  ["PUT", "/v1/me/mail-preferences", { security: false, storage: false, news: true, offers: true }],
  ["PUT", "/v1/settings/notifications", { recipients: "owner_superadmins" }],
  ["POST", `/v1/accounts/${ids.account[5]}/pause`],
  ["POST", `/v1/accounts/${ids.account[2]}/resume`],
  ["PUT", `/v1/accounts/${ids.account[5]}/role-label`, { role_label: "Another" }]
]

const messengerChanges = (id: string): ReadonlyArray<readonly [string, string, unknown]> => [
  ["PATCH", `/v1/accounts/${id}/messenger-profile`, { first_name: "Grace" }],
  ["PUT", `/v1/accounts/${id}/messenger-profile/username`, { username: `name_${id.slice(-8)}` }]
]

const ask = (organization: Populated.Populated, [method, path, body]: readonly [string, string, unknown?]) =>
  World.send(method, path, { key: organization.admins.owner.key, ...(body === undefined ? {} : { body }) })

describe("6 the journal and the change", () => {
  layer(World.world(postgres))((it) => {
    it.effect(
      "S1-10, S6-01, S6-02: every change leaves one entry of its admin and credential, and nothing else leaves one",
      () =>
        Effect.gen(function*() {
          const organization = yield* Populated.make()
          const { admins, id, ids } = organization
          const outcomes = new Map<string, number>()
          const people = { ...ids, account: organization.live.map((account) => account.id) }
          const all = Populated.together(people, people, ids, ids, Populated.nothing)
          yield* Random.holds(Arbitrary.array(step, { minLength: 1, maxLength: 8 }), 30, (steps) =>
            Effect.gen(function*() {
              yield* TestClock.adjust("61 seconds")
              for (const { draft, role } of steps) {
                const request = Random.draw(draft, all)
                const { operation } = request
                const before = yield* state(organization)
                const earlier = (yield* World.journal(id)).length
                const answer = yield* Random.sendSound(request, admins[role].key)
                const changed = JSON.stringify(yield* state(organization)) !== JSON.stringify(before)
                const entries = (yield* World.journal(id)).slice(earlier)
                const left = entries.map(({ outcome }) =>
                  outcome
                )
                const what = `${operation.id} ${answer.status} ${left.join()}`
                outcomes.set(what, (outcomes.get(what) ?? 0) + 1)
                if (changed) {
                  expect(answer.status).toBe(200)
                  const waits = entries[0]?.action.endsWith("sign_out_queued") === true
                  expect(left).toEqual(operation.kind === "guarded" && !waits ? ["pending", "done"] : ["done"])
                } else if (
                  operation.kind === "guarded" && [400, 409].includes(answer.status) && left[0] === "pending"
                ) {
                  expect([
                    "username_taken",
                    "username_invalid",
                    "bio_too_long",
                    "parameter_invalid",
                    "email_refused",
                    "password_invalid",
                    "code_invalid",
                    "passkey_not_eligible",
                    "messenger_refused"
                  ])
                    .toContain(answer.body.error.code)
                  expect(left).toEqual(["pending", "failed"])
                } else if (operation.destructive && [400, 409].includes(answer.status) && left.length > 0) {
                  expect(left, what).toEqual(["refused"])
                  expect(entries[0]?.details).toEqual({ code: answer.body.error.code })
                } else {
                  expect(left, what).toEqual([])
                }
                for (const entry of entries) {
                  expect(entry).toMatchObject({
                    action: expect.toBeOneOf([
                      operation.journal?.action,
                      // What is only stored says so.
                      operation.journal?.action.replace("signed_out", "sign_out_queued")
                    ]),
                    actor_type: "admin",
                    actor_admin_id: admins[role].id,
                    credential_kind: "api_key",
                    credential_id: admins[role].keyId,
                    via: "rest",
                    request_id: answer.headers.get("request-id"),
                    account_id: request.path.split("/")[2] === "accounts" ? request.path.split("/")[3] : null,
                    closes: entry.outcome === "pending" || left.length === 1 ? null : entries[0]?.sequence
                  })
                }
              }
              const sequences = (yield* World.journal(id)).map(({ sequence }) => sequence)
              expect(sequences).toEqual(sequences.map((_, index) => index + 1))
              expect(yield* Fixtures.within(id, verify(id))).toMatchObject({
                ok: true,
                sequence: sequences.length
              })
            }))
          const seen = (pattern: RegExp) =>
            [...outcomes.keys()].filter((what) => pattern.test(what)).length
          expect(seen(/ 200 done$/)).toBeGreaterThan(1)
          expect(seen(/ (403|404|409) $/)).toBeGreaterThan(1)
        })
    )

    for (const moment of ["before", "after"] as const) {
      it.effect(`a write whose entry cannot be kept changes nothing: it fails ${moment} the entry is written`, () =>
        Effect.gen(function*() {
          const organization = yield* Populated.make()
          const journal = yield* Journal
          const broken = Effect.die(new Error("The journal is broken"))
          const failing = Journal.of({
            ...journal,
            append: (id, entry) => moment === "before" ? broken : Effect.andThen(journal.append(id, entry), broken)
          })
          for (const write of writes(organization)) {
            const before = yield* World.snapshot(organization.id)
            const answer = yield* Effect.provideService(ask(organization, write), Journal, failing)
            expect(World.refusal(answer), write[1]).toEqual([500, "internal_error"])
            expect(yield* World.snapshot(organization.id)).toEqual(before)
            expect((yield* ask(organization, write)).status).toBe(200)
            expect(yield* World.snapshot(organization.id)).not.toEqual(before)
          }
        }))
    }

    it.effect("a change whose intent cannot be kept never reaches the messenger", () =>
      Effect.gen(function*() {
        const organization = yield* Populated.make()
        const platform = yield* SimulatedPlatform
        const journal = yield* Journal
        const failing = Journal.of({
          ...journal,
          begin: (id, entry) => Effect.andThen(journal.begin(id, entry), Effect.die(new Error("broken")))
        })
        const before = yield* World.snapshot(organization.id)
        const messenger = yield* Populated.onMessenger(organization.live)
        for (const change of messengerChanges(organization.live[0]?.id ?? "")) {
          const answer = yield* Effect.provideService(ask(organization, change), Journal, failing)
          expect(World.refusal(answer)).toEqual([500, "internal_error"])
        }
        expect(yield* World.snapshot(organization.id)).toEqual(before)
        expect(yield* Populated.onMessenger(organization.live)).toEqual(messenger)
        const calls = (yield* platform.calls).filter(({ user_id }) => user_id === organization.live[0]?.userId)
        expect(new Set(calls.map(({ operation }) => operation))).toEqual(new Set(["open", "profile"]))
      }))

    it.effect("a change whose outcome cannot be kept stays an open intent, and is closed once as failed, unknown", () =>
      Effect.gen(function*() {
        const organization = yield* Populated.make()
        const { id } = organization
        const journal = yield* Journal
        const failing = Journal.of({
          ...journal,
          close: (id, intent, entry) =>
            Effect.andThen(journal.close(id, intent, entry), Effect.die(new Error("broken")))
        })
        const earlier = (yield* World.journal(id)).length
        const accounts = (yield* World.snapshot(id))["account"]
        const [change] = messengerChanges(organization.live[0]?.id ?? "")
        if (change === undefined) return yield* Effect.die(new Error("No change"))
        const answer = yield* Effect.provideService(ask(organization, change), Journal, failing)
        expect(World.refusal(answer)).toEqual([500, "internal_error"])
        expect((yield* World.snapshot(id))["account"]).toEqual(accounts)
        expect(yield* Populated.onMessenger(organization.live)).toEqual(
          expect.arrayContaining([expect.objectContaining({ first_name: "Grace" })])
        )
        expect((yield* World.journal(id)).slice(earlier).map(({ outcome }) => outcome)).toEqual(["pending"])
        yield* TestClock.adjust("59 seconds")
        expect(yield* closeAbandonedIntents.run).toBe(0)
        yield* TestClock.adjust("1 second")
        expect(yield* closeAbandonedIntents.run).toBe(1)
        expect(yield* closeAllIntents).toBe(0)
        const [intent, outcome, ...rest] = (yield* World.journal(id)).slice(earlier)
        expect(rest).toEqual([])
        expect(intent).toMatchObject({ outcome: "pending", details: { fields: "first_name" } })
        expect(outcome).toMatchObject({
          outcome: "failed",
          action: intent?.action,
          actor_type: "service",
          via: "background",
          credential_id: null,
          account_id: intent?.account_id,
          closes: intent?.sequence,
          details: { fields: "first_name", error: "unknown", certain: false }
        })
        expect((yield* Fixtures.within(id, verify(id))).ok).toBe(true)
      }))

    it.effect("times in the journal never go back, though the clock does", () =>
      Effect.gen(function*() {
        const organization = yield* Populated.make()
        const { id } = organization
        const label = (role_label: string) =>
          ask(organization, ["PUT", `/v1/accounts/${organization.ids.account[0]}/role-label`, { role_label }])
        const start = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
        for (const [index, shift] of [100_000, 40_000, 99_999, 0, 100_001, 5_000].entries()) {
          yield* TestClock.setTime(start + shift)
          expect((yield* label(`Label ${index}`)).status).toBe(200)
        }
        const times = (yield* World.journal(id)).slice(-6).map(({ at }) => at.getTime() - start)
        expect(times).toEqual([100_000, 100_000, 100_000, 100_000, 100_001, 100_001])
        expect((yield* Fixtures.within(OrganizationId.make(id), verify(id))).ok).toBe(true)
        yield* TestClock.setTime(start + 100_001)
      }))
  })
})
