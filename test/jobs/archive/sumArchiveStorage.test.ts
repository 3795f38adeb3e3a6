import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { sumArchiveStorage } from "../../../src/jobs/archive/sum_archive_storage.ts"
import { cleanUpAccount } from "../../support/archive/cleanups.ts"
import { makeExported } from "../../support/archive/exportedArchive.ts"
import * as Mails from "../../support/mail/outbox.ts"
import { forEachDatabase } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"

/** What pages, tails and whole contents of the organization take. */
const stored = (organizationId: string) =>
  Effect.map(
    World.query<{ bytes: string }>(
      organizationId,
      (sql) =>
        sql`select sum(bytes)::text as bytes from (
          select bytes::bigint from archive_page where organization_id = ${organizationId}
          union all
          select length(sealed) from archive_tail where organization_id = ${organizationId}
          union all
          select stored_bytes from archive_blob where organization_id = ${organizationId} and state = 'saved') as rows`
    ),
    ([row]) => Number(row?.bytes ?? 0)
  )

const usedOf = (key: NonNullable<World.Asking["key"]>) =>
  Effect.map(World.get("/v1/status", key), ({ body }) => body.saving.storage_used_bytes)

const warnings = (id: string) =>
  Effect.map(World.journal(id), (events) => events.filter(({ action }) => action === "storage.almost_full"))

describe("sum_archive_storage", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("an organization's storage is what its pages, tails and contents take, after writing, redaction and a cleanup", () =>
        Effect.gen(function*() {
          const { accountId, id, key } = yield* makeExported
          const sums = Effect.gen(function*() {
            yield* sumArchiveStorage.run
            const used: number = yield* usedOf(key)
            expect(used).toBe(yield* stored(id))
            return used
          })
          const written = yield* sums
          expect(written).toBeGreaterThan(150_000)
          const path = `/v1/archive/accounts/${accountId}/chats/4242/redactions`
          yield* World.send("POST", path, { key, body: { message_ids: ["1"], reason: "Asked for" } })
          const redacted = yield* sums
          expect(redacted).toBeLessThan(written - 150_000)
          yield* cleanUpAccount(key, accountId)
          expect(yield* sums).toBeLessThan(redacted)
        }))

      it.effect("a limit that is lowered to what is stored is journaled and mailed, once, and again after it was raised", () =>
        Effect.gen(function*() {
          const { id } = yield* makeExported
          const bytes = yield* stored(id)
          const subjects = Effect.map(
            Mails.waiting(id),
            (mails) => mails.flatMap(({ subject }) => subject.includes("storage") ? [subject] : [])
          )
          const limit = Effect.fnUntraced(function*(storage_limit_bytes: number | null) {
            yield* World.set(id, "organization", id, { storage_limit_bytes })
            yield* sumArchiveStorage.run
            yield* sumArchiveStorage.run
            return [(yield* warnings(id)).length, (yield* subjects).length]
          })
          expect(yield* limit(2 * bytes)).toEqual([0, 0])
          expect(yield* limit(bytes - 1)).toEqual([1, 1])
          expect(yield* subjects).toEqual(["The archive's storage is full"])
          expect(yield* limit(bytes)).toEqual([1, 1])
          expect(yield* limit(null)).toEqual([1, 1])
          expect(yield* limit(bytes + 1)).toEqual([2, 2])
        }))

      it.effect("at nine tenths of the limit the journal says so once, and at the limit nothing more is saved", () =>
        Effect.gen(function*() {
          const { accountId, id, key } = yield* makeExported
          const bytes = yield* stored(id)
          yield* World.set(id, "organization", id, { storage_limit_bytes: Math.floor(bytes * 1.05) })
          yield* sumArchiveStorage.run
          yield* sumArchiveStorage.run
          expect((yield* warnings(id)).map(({ details }) => details["used_bytes"])).toEqual([bytes])
          const saving = Effect.map(
            World.get(`/v1/accounts/${accountId}`, key),
            ({ body }) => body.archive.saving.reason
          )
          yield* World.set(id, "account", accountId, {
            offboarded_at: null,
            session_ref: "1",
            monitoring_state: "active"
          })
          expect(yield* saving).not.toBe("storage_full")
          yield* World.set(id, "organization", id, { storage_limit_bytes: bytes })
          expect(yield* saving).toBe("storage_full")
        }))
    })
  })
})
