import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { deleteArchives } from "../../../src/jobs/archive/delete_archives.ts"
import { settleArchivePhases } from "../../../src/jobs/archive/settle_archive_phases.ts"
import * as Archives from "../../support/archive/archives.ts"
import { makeHold } from "../../support/archive/cleanups.ts"
import * as Deletions from "../../support/archive/deletions.ts"
import * as Outbox from "../../support/mail/outbox.ts"
import { act } from "../../support/operator/operator.ts"
import { pglite } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"

const setPlan = (organization: string, plan: "archive" | "protect") =>
  act((requests) =>
    requests.organizations_set({ organization, name: null, plan, seats: null, valid_until: null, open_ended: false })
  )

const extend = (organization: string, until: Date) =>
  act((requests) =>
    requests.organizations_set({
      organization,
      name: null,
      plan: null,
      seats: null,
      valid_until: until,
      open_ended: false
    })
  )

const changesOf = (id: string) =>
  Effect.map(
    World.journal(id),
    (all) =>
      all.filter(({ action }) => action.startsWith("archive.phase") || action.startsWith("archive.delet")).map((
        { action, details }
      ) => details.to ?? action)
  )

const mailsOf = (id: string) =>
  Effect.map(
    Outbox.waiting(id),
    (all) => all.map(({ kind }) => kind).filter((kind) => kind.startsWith("archive_"))
  )

const phaseOf = ({ admins }: Pick<World.Organization, "admins">) =>
  Effect.map(World.get("/v1/organization", admins.owner.key), ({ body }) => body.archive.phase)

/** An archive that no plan includes any more, as the job has seen. */
const ended = Effect.gen(function*() {
  const staged = yield* Deletions.stage(1)
  yield* settleArchivePhases.run
  yield* setPlan(staged.id, "protect")
  yield* settleArchivePhases.run
  return staged
})

const passed = (days: number) => Effect.andThen(TestClock.adjust(`${days} days`), settleArchivePhases.run)

describe("5.5: the archive of an organization whose plan no longer includes it", () => {
  layer(World.world(pglite))((it) => {
    it.effect("closes after 30 days and is deleted after 60 more, each journaled once, and mailed to the owner in time", () =>
      Effect.gen(function*() {
        const staged = yield* ended
        const { id } = staged
        expect([yield* changesOf(id), yield* mailsOf(id)]).toEqual([["active", "readonly"], ["archive_closes"]])
        yield* passed(29)
        expect(yield* phaseOf(staged)).toBe("readonly")
        yield* passed(1)
        yield* passed(1)
        expect(yield* changesOf(id)).toEqual(["active", "readonly", "closed"])
        expect(yield* mailsOf(id)).toEqual(["archive_closes", "archive_is_deleted"])
        yield* passed(53)
        yield* passed(1)
        expect(yield* mailsOf(id)).toEqual(["archive_closes", "archive_is_deleted", "archive_is_deleted"])
        yield* passed(4)
        expect(yield* phaseOf(staged)).toBe("closed")
        yield* passed(1)
        yield* deleteArchives.run
        yield* passed(1)
        expect(yield* phaseOf(staged)).toBe("deleted")
        expect(yield* changesOf(id)).toEqual([
          "active",
          "readonly",
          "closed",
          "deleting",
          "archive.deletion_started",
          "archive.deleted",
          "deleted"
        ])
        expect((yield* Deletions.dump(id)).epochs.filter(({ sealed_key }) => sealed_key !== null)).toEqual([])
        expect((yield* mailsOf(id)).length).toBe(3)
      }))

    it.effect("is open again with a plan, as it was", () =>
      Effect.gen(function*() {
        const staged = yield* ended
        yield* passed(40)
        yield* setPlan(staged.id, "archive")
        yield* passed(100)
        expect(yield* phaseOf(staged)).toBe("active")
        expect(yield* changesOf(staged.id)).toEqual(["active", "readonly", "closed", "active"])
      }))

    const hour = 3_600_000
    const lapses = { billing_state: "lapsed" }
    const agreed = (until: number) => ({ managed: false, billing_state: "none", valid_until: new Date(until) })
    const ends: ReadonlyArray<readonly [string, Readonly<Record<string, unknown>>]> = [
      ["its subscription lapsed with the plan kept", lapses],
      ["its licence by agreement ended", agreed(Archives.beginning + hour)]
    ]
    for (const [reason, facts] of ends) {
      it.effect(`closes and is deleted in the same way where ${reason}`, () =>
        Effect.gen(function*() {
          const staged = yield* Deletions.stage(1)
          const { id } = staged
          yield* settleArchivePhases.run
          yield* World.set(id, "organization", id, facts)
          yield* TestClock.adjust("1 hour")
          yield* settleArchivePhases.run
          yield* settleArchivePhases.run
          expect([yield* changesOf(id), yield* mailsOf(id)]).toEqual([["active", "readonly"], ["archive_closes"]])
          yield* passed(29)
          expect(yield* phaseOf(staged)).toBe("readonly")
          yield* passed(1)
          expect([yield* phaseOf(staged), yield* mailsOf(id)]).toEqual([
            "closed",
            ["archive_closes", "archive_is_deleted"]
          ])
          yield* passed(59)
          expect(yield* phaseOf(staged)).toBe("closed")
          yield* passed(1)
          expect((yield* changesOf(id)).at(-1)).toBe("archive.deletion_started")
        }))
    }

    it.effect("counts anew from the next end where a licence lived between", () =>
      Effect.gen(function*() {
        const staged = yield* Deletions.stage(1)
        const { id } = staged
        yield* World.set(id, "organization", id, agreed(Archives.beginning + hour))
        yield* passed(20)
        yield* extend(id, new Date(Archives.beginning + 50 * 24 * hour))
        expect(yield* phaseOf(staged)).toBe("active")
        yield* passed(40)
        expect(yield* phaseOf(staged)).toBe("readonly")
        yield* passed(29)
        expect(yield* phaseOf(staged)).toBe("readonly")
        yield* passed(1)
        expect(yield* phaseOf(staged)).toBe("closed")
      }))

    it.effect("stays readonly while its organization is suspended, and has its end once the licence ends too", () =>
      Effect.gen(function*() {
        const staged = yield* Deletions.stage(1)
        const { id } = staged
        yield* act((requests) => requests.organizations_change_status({ organization: id, act: "suspend" }))
        yield* passed(200)
        expect([yield* phaseOf(staged), yield* mailsOf(id)]).toEqual(["readonly", []])
        yield* World.set(id, "organization", id, lapses)
        yield* passed(1)
        expect([yield* phaseOf(staged), yield* mailsOf(id)]).toEqual(["readonly", ["archive_closes"]])
        yield* passed(30)
        expect([yield* phaseOf(staged), yield* mailsOf(id)]).toEqual([
          "closed",
          ["archive_closes", "archive_is_deleted"]
        ])
      }))

    it.effect("stays, closed to everyone, while a hold binds any of it", () =>
      Effect.gen(function*() {
        const staged = yield* ended
        const hold = yield* makeHold(staged.id, { accounts: null, released: null, until: null })
        yield* passed(100)
        yield* passed(1)
        const kept = yield* Deletions.opensWith(staged.id, yield* Deletions.dump(staged.id))
        expect(kept.length).toBeGreaterThan(0)
        expect((yield* changesOf(staged.id)).at(-1)).toBe("deleting")
        yield* World.query<object>(staged.id, (sql) =>
          sql`update archive_hold set released_at = now() where id = ${hold}`)
        yield* passed(1)
        expect((yield* changesOf(staged.id)).at(-1)).toBe("archive.deletion_started")
      }))
  })
})
