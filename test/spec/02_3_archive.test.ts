import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { Role } from "../../src/domain/people/Access.ts"
import { CaptureStore } from "../../src/ports/archive/CaptureStore.ts"
import * as Fixtures from "../support/fixtures.ts"
import { forSpecification } from "../support/postgres/database.ts"
import { at, day, hour, now } from "../support/stored.ts"
import * as World from "../support/world.ts"

/** An organization whose archive is active, with one account of a live session that every role reaches. */
const arrange = Effect.fnUntraced(function*(facts: Record<string, unknown> = {}) {
  yield* TestClock.setTime(now.getTime())
  const organization = yield* World.makeOrganization({ archive_first_record_at: at(-90 * day) })
  const { admins, id } = organization
  const { id: account } = yield* World.makeLiveAccount(id, {}, { facts: { licence_tier: "archive", ...facts } })
  yield* World.grant(id, admins.admin.id, { accounts: [account] })
  yield* World.grant(id, admins.archive.id, { accounts: [account] })
  /** The summary as the list shows it, which is the single read's too. */
  const readAs = Effect.fnUntraced(function*(role: Role) {
    const [item] = (yield* World.get("/v1/accounts", admins[role].key)).body.data
    const { body } = yield* World.get(`/v1/accounts/${account}`, admins[role].key)
    assert.deepStrictEqual(body.archive, item.archive)
    return body.archive
  })
  return {
    ...organization,
    account,
    readAs,
    set: (columns: object) => World.set(id, "account", account, { ...columns })
  }
})

const roles = ["owner", "superadmin", "admin", "billing", "archive"] as const

describe("2.3 the archive of an account", () => {
  forSpecification((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S2.3-11, S2.3-13, S2.3-14, S2.3-17, S2.3-19, S2.3-20: shows what is stored of it", () =>
        Effect.gen(function*() {
          const { readAs } = yield* arrange({
            archive_messages: 9_007_199_254_740_991,
            archive_media: 2,
            archive_bytes: 3_000_000_000,
            archive_last_backup_at: at(-4 * hour),
            archive_next_backup_at: at(5 * hour),
            archive_updated_at: at(-6 * hour),
            archive_last_sync_at: at(-7 * hour),
            archive_live: true,
            archive_started_at: at(-hour),
            archive_phase: "media",
            archive_dialogs_done: 8,
            archive_dialogs_total: 9,
            archive_chats_discovered: 10,
            archive_chats_selected: 11,
            archive_chats_with_data: 12,
            archive_chats_complete: 13,
            archive_chats_review: 14,
            archive_chats_stopped: 1
          })
          assert.deepStrictEqual(yield* readAs("owner"), {
            has_key: true,
            status: "running",
            messages: 9_007_199_254_740_991,
            media: 2,
            bytes: 3_000_000_000,
            last_backup_at: at(-4 * hour).toISOString(),
            next_backup_at: at(5 * hour).toISOString(),
            updated_at: at(-6 * hour).toISOString(),
            live_archive: true,
            error: null,
            phase: "media",
            running: { dialogs_done: 8, dialogs_total: 9, current_chat: null },
            chats: { discovered: 10, selected: 11, with_data: 12, complete: 13, review: 14 },
            saving: { state: "saving", reason: null, stopped_chats: 1, last_sync_at: at(-7 * hour).toISOString() }
          })
        }))

      it.effect("S2.3-11: has_key is false until the organization has set its archive password", () =>
        Effect.gen(function*() {
          const { id, readAs } = yield* arrange()
          yield* World.set(id, "organization", id, { archive_key_set: false })
          assert.isFalse((yield* readAs("archive")).has_key)
          yield* World.set(id, "organization", id, { archive_key_set: true })
          assert.isTrue((yield* readAs("archive")).has_key)
        }))

      it.effect("S2.3-12: every status follows from what is stored", () =>
        Effect.gen(function*() {
          const { id, readAs, set } = yield* arrange()
          const status = Effect.map(readAs("billing"), (archive) => archive.status)
          assert.strictEqual(yield* status, "idle")
          yield* set({ archive_error: "disk full" })
          assert.strictEqual(yield* status, "error")
          yield* set({ archive_queued_at: at(-2) })
          assert.strictEqual(yield* status, "queued")
          yield* set({ archive_started_at: at(-1) })
          assert.strictEqual(yield* status, "running")
          yield* World.set(id, "organization", id, { archive_key_set: false })
          assert.strictEqual(yield* status, "awaiting_key")
          yield* set({ archive_selects: false })
          assert.strictEqual(yield* status, "disabled")
        }))

      it.effect("S2.3-20, S2.3-21, S2.3-22: every reason why nothing is saved follows from what is stored", () =>
        Effect.gen(function*() {
          const { id, readAs, set } = yield* arrange()
          const saving = Effect.map(readAs("billing"), ({ saving: { reason, state } }) => [state, reason])
          assert.deepStrictEqual(yield* saving, ["saving", null])
          yield* set({ archive_error: "disk full", archive_retry_at: at(2 * hour) })
          assert.deepStrictEqual(yield* saving, ["check", "error"])
          yield* set({ archive_retry_at: null })
          assert.deepStrictEqual(yield* saving, ["stopped", "error"])
          yield* set({ monitoring_state: "unknown" })
          assert.deepStrictEqual(yield* saving, ["check", "connection_unknown"])
          yield* set({ archive_cleanup_running: true })
          assert.deepStrictEqual(yield* saving, ["stopped", "cleanup_stopped"])
          yield* World.set(id, "organization", id, { storage_used_bytes: 5, storage_limit_bytes: 5 })
          assert.deepStrictEqual(yield* saving, ["stopped", "storage_full"])
          yield* set({ session_ref: null })
          assert.deepStrictEqual(yield* saving, ["stopped", "no_connection"])
          yield* set({ paused_at: at(-1) })
          assert.deepStrictEqual(yield* saving, ["stopped", "paused"])
          yield* World.set(id, "organization", id, { archive_key_set: false })
          assert.deepStrictEqual(yield* saving, ["stopped", "no_key"])
          yield* World.set(id, "organization", id, { billing_state: "lapsed" })
          assert.deepStrictEqual(yield* saving, ["stopped", "licence_stopped"])
          yield* World.set(id, "organization", id, { plan: "protect" })
          assert.deepStrictEqual(yield* saving, ["stopped", "no_archive_plan"])
          yield* set({ offboarded_at: at(-1) })
          assert.deepStrictEqual(yield* saving, ["stopped", "retired"])
        }))

      it.effect("S2.3-15, S2.3-16: who may not read the archive sees of a failure only archive_error", () =>
        Effect.gen(function*() {
          const { admins, id, readAs, set } = yield* arrange()
          const errors = Effect.forEach(roles, (role) => Effect.map(readAs(role), ({ error }) => error))
          assert.deepStrictEqual(yield* errors, [null, null, null, null, null])
          yield* set({ archive_error: "disk full" })
          assert.deepStrictEqual(yield* errors, [
            "disk full",
            "disk full",
            "archive_error",
            "archive_error",
            "disk full"
          ])
          yield* World.set(id, "admin", admins.admin.id, { archive_access: true })
          assert.deepStrictEqual(yield* errors, ["disk full", "disk full", "disk full", "archive_error", "disk full"])
          yield* World.set(id, "admin", admins.billing.id, { archive_access: true })
          assert.strictEqual((yield* readAs("billing")).error, "archive_error")
        }))

      it.effect("S2.3-17, S2.3-18: roles with archive access see the chat of a run in progress, and every role all else of it", () =>
        Effect.gen(function*() {
          const { account, id, readAs } = yield* arrange({ archive_started_at: at(-hour) })
          const store = yield* CaptureStore
          const progress = { phase: "messages", done: 1, total: null, chat: "Board of directors" } as const
          const accountRef = { organizationId: id, accountId: account }
          yield* Fixtures.within(id, store.report(accountRef, progress, now))
          const [stored] = yield* World.query<{ archive_current_chat: string }>(
            id,
            (sql) => sql`select archive_current_chat from archive_state where account_id = ${account}`
          )
          assert.notInclude(stored?.archive_current_chat ?? "Board", "Board")
          const seen = Effect.forEach(roles, (role) => Effect.map(readAs(role), ({ running }) => running))
          const running = (current_chat: string | null) => ({ dialogs_done: 1, dialogs_total: null, current_chat })
          const title = running("Board of directors")
          assert.deepStrictEqual(yield* seen, [title, title, running(null), running(null), title])
          yield* Fixtures.within(
            id,
            store.end(accountRef, { askedAt: null, done: true, error: null, nextAt: at(hour), retryAt: null }, now)
          )
          const [ended] = yield* World.query<{ archive_current_chat: string | null }>(
            id,
            (sql) => sql`select archive_current_chat from archive_state where account_id = ${account}`
          )
          assert.strictEqual(ended?.archive_current_chat, null)
        }))

      it.effect("S2.3-16, S2.3-18: the change of a role label masks the same", () =>
        Effect.gen(function*() {
          const { account, admins } = yield* arrange({
            archive_error: "disk full",
            archive_started_at: at(-hour)
          })
          const change = (role: "owner" | "admin") =>
            World.put(`/v1/accounts/${account}/role-label`, admins[role].key, { role_label: "Label" })
          const { archive } = (yield* change("admin")).body
          assert.deepStrictEqual([archive.error, archive.running.current_chat], ["archive_error", null])
          const whole = (yield* change("owner")).body.archive
          assert.deepStrictEqual([whole.error, whole.running.current_chat], ["disk full", null])
        }))
    })
  })
})
