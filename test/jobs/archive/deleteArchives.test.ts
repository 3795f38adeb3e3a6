import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { indexForReaders } from "../../../src/archive/PageIndexing.ts"
import { deleteArchives } from "../../../src/jobs/archive/delete_archives.ts"
import { ArchiveDeletions } from "../../../src/ports/archive/ArchiveDeletions.ts"
import { ArchiveWriter } from "../../../src/ports/archive/ArchiveWriter.ts"
import { Epochs } from "../../../src/ports/archive/Epochs.ts"
import { Db } from "../../../src/ports/Db.ts"
import { setArchiveKey } from "../../support/archive/archiveKeys.ts"
import * as Archives from "../../support/archive/archives.ts"
import { forEachDatabase, postgres } from "../../support/postgres/database.ts"
import { replicas } from "../../support/replicas.ts"
import * as World from "../../support/world.ts"

import * as Deletions from "../../support/archive/deletions.ts"

const { chatId, seen } = Archives

describe("the deletion of an account with its archive", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("takes the rules for it, and no other's", () =>
        Effect.gen(function*() {
          const { admins, archives: [one, other], id } = yield* Deletions.stage()
          const { key } = admins.owner
          const accounts = [one!, other!].map(({ account }) => ({ level: "account", id: account.accountId }))
          const organization = { level: "organization", id: null }
          for (const target of [organization, ...accounts]) {
            const body = { target, selector: { chat_type: "bot", chat_id: null }, effect: "skip" }
            expect((yield* World.send("POST", "/v1/archive/rules", { key, body })).status).toBe(200)
          }
          yield* Deletions.deleteAccount(one!.account, key)
          const { body } = yield* World.get("/v1/archive/rules", key)
          expect(body.data.map(({ target }: { target: object }) => target)).toEqual([organization, accounts[1]])
          expect(yield* Deletions.countIn(id, "archive_rule")).toBe(2)
        }))

      it.effect("S5.3-14: takes its keys first, then its records, and nothing of anybody else's", () =>
        Effect.gen(function*() {
          const { admins, archives: [one, other], id } = yield* Deletions.stage()
          const { key } = admins.owner
          const before = yield* Deletions.snapshot(id, other!.account.accountId)
          const dumped = yield* Deletions.opensWith(one!.account.organizationId, yield* Deletions.dump(id))
          expect(dumped.length).toBeGreaterThan(1)
          const answer = yield* Deletions.deleteAccount(one!.account, key)
          expect([answer.status, answer.body.action]).toEqual([200, "account_deleted"])
          const left = yield* Deletions.dump(id)
          const opened = yield* Deletions.opensWith(one!.account.organizationId, left)
          expect(opened.map(({ account_id }) => account_id)).toEqual([other!.account.accountId])
          expect(yield* Deletions.rowsOf(id, one!.account.accountId)).toBeGreaterThan(0)

          const path = `/v1/accounts/${one!.account.accountId}`
          expect((yield* World.get(path, key)).status).toBe(404)
          expect((yield* Deletions.confirmed(`${path}/delete`, key, "delete 1")).status).toBe(404)
          const late = yield* Effect.flip(
            Archives.commit(one!, one!.writer.append(chatId, [seen(9, 1, "late")], "live"))
          )
          expect(late._tag).toBe("WriterReplaced")
          const again = yield* Effect.flip(Effect.scoped(Effect.gen(function*() {
            return yield* (yield* ArchiveWriter).own(
              one!.account,
              yield* Deletions.keyOf(one!.account.organizationId),
              crypto.randomUUID()
            )
          })))
          expect(again._tag).toBe("NoSuchAccount")

          const pages = yield* Deletions.countIn(id, "archive_page", one!.account.accountId)
          expect(yield* Deletions.countIn(id, "archive_state", one!.account.accountId)).toBe(0)
          yield* deleteArchives.run
          expect(yield* Deletions.rowsOf(id, one!.account.accountId)).toBe(0)
          expect((yield* Deletions.dump(id)).blobs).toEqual([{ account_id: other!.account.accountId }])
          expect(yield* Deletions.countIn(id, "archive_gone", one!.account.accountId)).toBe(pages)
          expect(yield* Deletions.snapshot(id, other!.account.accountId)).toEqual(before)
          yield* Deletions.recount(id)
          const events = yield* World.journal(id)
          expect(
            events.filter(({ account_id }) => account_id === one!.account.accountId).map((event) => [
              event.action,
              event.actor_type,
              event.details
            ])
          ).toEqual([
            ["account.deleted", "admin", { deletion: expect.stringMatching(/^[0-9a-f-]{36}$/) }],
            ["archive.deleted", "service", expect.objectContaining({ messages: one!.messages, pages })]
          ])
          yield* deleteArchives.run
          expect(yield* World.journal(id)).toEqual(events)
        }))

      it.effect("S4.16-06: is refused by a wrong phrase, a protected account, a held password and a legal hold, and deletes nothing", () =>
        Effect.gen(function*() {
          const { admins, archives: [one], id } = yield* Deletions.stage(1)
          const { accountId } = one!.account
          const { key } = admins.owner
          const before = yield* Deletions.snapshot(id, accountId)
          const codeOf = Effect.map(Deletions.deleteAccount(one!.account, key), ({ body }) => body.error?.code)
          const wrong = yield* Deletions.confirmed(`/v1/accounts/${accountId}/delete`, key, "delete it")
          expect([wrong.status, wrong.body.error.code, wrong.body.error.param]).toEqual([
            400,
            "confirm_phrase_invalid",
            "confirm_phrase"
          ])
          yield* World.set(id, "account", accountId, { offboarded_at: null })
          expect(yield* codeOf).toBe("not_offboarded")
          yield* World.set(id, "account", accountId, { offboarded_at: new Date(0) })
          yield* Deletions.addRow("account_secret", id, {
            id: crypto.randomUUID(),
            account_id: accountId,
            kind: "two_fa",
            slot: "held",
            sealed: "sealed",
            made_at: new Date(0),
            erase_at: new Date(9e12)
          })
          expect(yield* codeOf).toBe("two_fa_not_released")
          yield* World.query(
            id,
            (sql) => sql`update account_secret set revealed_at = ${new Date(1)} where account_id = ${accountId}`
          )
          // The service still has to sign out.
          yield* Deletions.addRow("service_session", id, {
            account_id: accountId,
            slot: "retired",
            session_ref: crypto.randomUUID(),
            created_at: new Date(0),
            erase_at: new Date(9e12)
          })
          expect(yield* codeOf).toBe("not_offboarded")
          yield* World.query(id, (sql) => sql`delete from service_session where account_id = ${accountId}`)
          const hold = crypto.randomUUID()
          yield* World.query<object>(
            id,
            (sql) =>
              sql`insert into archive_hold (organization_id, id, name, account_ids, placed_at, placed_by)
              values (${id}, ${hold}, 'Case 7', array[${accountId}::uuid], ${new Date(0)}, ${admins.owner.id})`
          )
          expect(yield* codeOf).toBe("archive_held")
          expect((yield* Deletions.deleteWhole(id, key)).body.error.code).toBe("archive_held")
          expect(yield* Deletions.snapshot(id, accountId)).toEqual(before)
          const refused = (yield* World.journal(id)).filter(({ outcome }) => outcome === "refused")
          expect(refused.map(({ details }) => details.code)).toEqual([
            "confirm_phrase_invalid",
            "not_offboarded",
            "two_fa_not_released",
            "not_offboarded",
            "archive_held",
            "archive_held"
          ])
          yield* World.query(id, (sql) => sql`update archive_hold set released_at = ${new Date(2)} where id = ${hold}`)
          expect(yield* codeOf).toBe(undefined)
        }))
    })
  })
})

describe("the deletion of the whole archive", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("S5.3-14: leaves nothing that opens, empties every account's archive, and lets a new key begin another", () =>
        Effect.gen(function*() {
          const { admins, archives: [one, other], id } = yield* Deletions.stage()
          const elsewhere = yield* Deletions.stage(1)
          const theirs = elsewhere.archives[0]!.account
          const before = yield* Deletions.snapshot(elsewhere.id, theirs.accountId)
          const positions = World.query<{ position: number | null }>(
            id,
            (sql) => sql`select position from archive_state where position is not null`
          )
          yield* World.query(
            id,
            (sql) => sql`update archive_state set position = 1, date = 1, qts = 1, heard_at = ${new Date(0)}`
          )
          expect((yield* positions).length).toBe(2)
          const { key } = admins.owner
          const started = yield* Deletions.deleteWhole(id, key)
          expect([started.status, started.body.archive]).toEqual([
            200,
            expect.objectContaining({ phase: "deleting", key_set: false, readable: false, writable: false })
          ])
          for (const { account } of [one!, other!]) expect(yield* Deletions.keysOf(account)).toEqual([])
          expect(yield* World.query(id, (sql) => sql`select 1 from archive_wrap where organization_id = ${id}`))
            .toEqual([])
          expect((yield* Deletions.deleteWhole(id, key)).body).toEqual(started.body)

          for (const { account, writer } of [one!, other!]) {
            const late = yield* Effect.flip(
              Archives.commit({ account }, writer.append(chatId, [seen(9, 1, "late")], "live"))
            )
            expect(late._tag).toBe("WriterReplaced")
          }
          // A password that is set meanwhile begins nothing before the deletion has ended.
          yield* setArchiveKey(id)
          const early = yield* Effect.flip(Effect.scoped(Effect.gen(function*() {
            return yield* (yield* ArchiveWriter).own(
              one!.account,
              yield* Deletions.keyOf(one!.account.organizationId),
              crypto.randomUUID()
            )
          })))
          expect(early._tag).toBe("NoSuchAccount")

          yield* deleteArchives.run
          expect([yield* Deletions.rowsOf(id), (yield* Deletions.dump(id)).blobs]).toEqual([0, []])
          expect(yield* positions).toEqual([])
          yield* Deletions.recount(id)
          expect(yield* Deletions.phaseOf(key)).toBe("deleted")
          expect((yield* Deletions.deleteWhole(id, key)).body.error.code).toBe("archive_empty")
          expect(yield* Deletions.snapshot(elsewhere.id, theirs.accountId)).toEqual(before)
          const actions = (yield* World.journal(id)).map(({ action }) => action)
          expect(actions.filter((action) => action.startsWith("archive."))).toEqual([
            "archive.deletion_started",
            "archive.deleted",
            "archive.deletion_started"
          ])
          yield* Deletions.fill(one!.account.organizationId)
          expect(yield* Deletions.phaseOf(key)).toBe("active")
          yield* Deletions.recount(id)
        }))

      it.effect("begins without a change of any epoch, and deletes these before all else, some at a time", () =>
        Effect.gen(function*() {
          const { admins, archives: [one, other], id } = yield* Deletions.stage()
          const { organizationId } = one!.account
          const stored = Effect.map(Deletions.dump(id), ({ epochs }) => epochs.map(({ sealed_key }) => sealed_key))
          const before = yield* stored
          expect(before.length).toBeGreaterThan(1)
          expect((yield* Deletions.keysOf(one!.account)).length).toBeGreaterThan(0)
          const started = yield* Deletions.deleteWhole(id, admins.owner.key)
          expect(started.status).toBe(200)
          expect(yield* stored).toEqual(before)
          for (const { account } of [one!, other!]) expect(yield* Deletions.keysOf(account)).toEqual([])
          const deletions = yield* ArchiveDeletions
          const [due] = (yield* deletions.due(99)).filter((each) => each.organizationId === organizationId)
          const rows = yield* Deletions.rowsOf(id)
          for (let left = before.length - 1; left >= 0; left--) {
            yield* (yield* Db).transaction(
              organizationId,
              Effect.gen(function*() {
                const taken = yield* deletions.take(organizationId, due!.id)
                expect(yield* deletions.deleteSome(taken!, 1, new Date(0))).toBe(1)
              })
            )
            expect((yield* stored).length).toBe(left)
          }
          expect([yield* Deletions.rowsOf(id), (yield* Deletions.dump(id)).blobs.length]).toEqual([rows, 2])
          yield* deleteArchives.run
          expect(yield* Deletions.rowsOf(id)).toBe(0)
        }))

      it.effect("S4.16-06: is refused to anybody but the owner, by a wrong phrase, and where nothing is archived", () =>
        Effect.gen(function*() {
          const { admins, id } = yield* World.makeOrganization()
          expect((yield* Deletions.deleteWhole(id, admins.superadmin.key)).body.error.code).toBe("owner_required")
          const wrong = yield* Deletions.confirmed("/v1/archive/delete", admins.owner.key, "delete archive")
          expect(wrong.body.error.code).toBe("confirm_phrase_invalid")
          expect((yield* Deletions.deleteWhole(id, admins.owner.key)).body.error.code).toBe("archive_empty")
        }))
    })
  })
})

describe("a reader of a deleted archive", () => {
  layer(World.world(postgres))((it) => {
    for (const what of ["account", "whole archive"] as const) {
      it.effect(`writes nothing of it anew that a key opens (${what})`, () =>
        Effect.gen(function*() {
          const { admins, archives: [one], id } = yield* Deletions.stage(1)
          const { account, writer } = one!
          const days = Array.from({ length: 20 }, (_, day) => seen(5000 + day, 86_400 * (day + 3), `word${day}`))
          yield* Archives.commit(one!, writer.append(chatId, days, "sweep"))
          const db = yield* Db
          const epochs = yield* Epochs
          const key = yield* Deletions.keyOf(account.organizationId)
          const opened = yield* Deletions.openEpochs(account)
          const archive = {
            key,
            epochKey: () => Effect.die("asked again"),
            isReplaced: false,
            keptEpoch: (_: object, epoch: bigint) => opened.get(epoch)
          }
          const index = indexForReaders([account.accountId], archive).pipe(Effect.exit)
          if (what === "account") yield* Deletions.deleteAccount(account, admins.owner.key)
          else yield* Deletions.deleteWhole(id, admins.owner.key)
          yield* index
          expect(yield* Deletions.keysOf(account)).toEqual([])
          expect(yield* Deletions.countIn(id, "archive_block", account.accountId)).toBe(0)
          const ref = { ...account, epochId: 1n << 40n, keyId: key.keyId }
          const added = epochs.addClosed(ref, new Uint8Array(8), new Date(0))
          expect(yield* db.transaction(account.organizationId, added)).toBe(false)
          yield* deleteArchives.run
          expect(yield* Deletions.countIn(id, "archive_epoch")).toBe(0)
        }))
    }
  })
})

describe("the job on two processes", () => {
  it.live(
    "keeps every counter at each crash point, and deletes each record once",
    () =>
      Effect.gen(function*() {
        const [one, other] = yield* replicas
        const { admins, archives, id } = yield* one(Effect.provide(Deletions.stage(), TestClock.layer()))
        const { organizationId } = archives[0]!.account
        yield* one(Deletions.deleteWhole(id, admins.owner.key))
        const [due] = yield* one(Effect.flatMap(ArchiveDeletions, (deletions) => deletions.due(9)))
        const part = (commits: boolean) =>
          Effect.gen(function*() {
            const db = yield* Db
            const deletions = yield* ArchiveDeletions
            const deleted = Effect.gen(function*() {
              const taken = yield* deletions.take(organizationId, due!.id)
              if (taken === null) return 0
              const rows = yield* deletions.deleteSome(taken, 7, new Date(0))
              return commits ? rows : yield* Effect.fail("killed" as const)
            })
            return yield* db.transaction(organizationId, deleted)
          })
        for (let round = 0; round < 15; round++) {
          const [running] = round % 2 === 0 ? [one] : [other]
          const rows = yield* one(Deletions.rowsOf(id))
          expect(yield* running(Effect.flip(part(false)))).toBe("killed")
          expect(yield* one(Deletions.rowsOf(id))).toBe(rows)
          yield* running(part(true))
          yield* one(Deletions.recount(id))
        }
        const both = yield* Effect.forEach([one, other], (each) => Effect.forkChild(each(deleteArchives.run)))
        yield* Effect.forEach(both, Fiber.join)
        yield* one(deleteArchives.run)
        expect(yield* one(Deletions.rowsOf(id))).toBe(0)
        const ends = (yield* one(World.journal(id))).filter(({ action }) => action === "archive.deleted")
        expect(ends.map(({ details }) => details.messages)).toEqual([
          archives.reduce((sum, { messages }) => sum + messages, 0)
        ])
      }).pipe(Effect.scoped),
    60_000
  )
})
