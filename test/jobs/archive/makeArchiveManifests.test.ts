import { describe, expect, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { hex } from "../../../src/domain/archive/Bytes.ts"
import { merkleRoot, pageLeaf } from "../../../src/domain/archive/Manifest.ts"
import { deleteArchives } from "../../../src/jobs/archive/delete_archives.ts"
import { makeArchiveManifests } from "../../../src/jobs/archive/make_archive_manifests.ts"
import { runArchiveCleanups } from "../../../src/jobs/archive/run_archive_cleanups.ts"
import { leafOf } from "../../../src/layers/sql/archive/PageLeaf.ts"
import { ArchiveManifests } from "../../../src/ports/archive/ArchiveManifests.ts"
import { VerificationTurns } from "../../../src/ports/archive/VerificationTurns.ts"
import { Db } from "../../../src/ports/Db.ts"
import * as Archives from "../../support/archive/archives.ts"
import { cleanUpAccount, makeCleanup } from "../../support/archive/cleanups.ts"
import * as Deletions from "../../support/archive/deletions.ts"
import { asOwner, forEachDatabase } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"

const { chatId, seen } = Archives

const sha256 = (bytes: Uint8Array) =>
  Effect.sync(() => new Uint8Array(crypto.createHash("sha256").update(bytes).digest()))

type Staged = Effect.Success<ReturnType<typeof Deletions.stage>>

/** An organization with the pages of several days, which manifests cover. */
const stage = Effect.fnUntraced(function*() {
  const staged = yield* Deletions.stage(2)
  const [one] = staged.archives
  for (let day = 0; day < 7; day++) {
    const messages = [seen(2000 + day, 90_000 - day, `page ${day}`)]
    yield* Archives.commit(one!, one!.writer.append(chatId, messages, "sweep"))
  }
  yield* makeArchiveManifests.run
  return staged
})

const verify = Effect.fnUntraced(function*({ admins }: Pick<Staged, "admins">, body: object = {}) {
  const answer = yield* World.send("POST", "/v1/archive/verify", { key: admins.owner.key, body })
  expect(answer.status).toBe(200)
  return answer.body
})

/** Deletes everything of the first account. */
const cleanUp = ({ admins, archives: [one] }: Staged) => cleanUpAccount(admins.owner.key, one!.account.accountId)

const change = (organizationId: string, statement: string) =>
  World.query<object>(organizationId, (sql) => sql.unsafe(statement))

/** Removes the first page of the account's messages, as the cleanup does. */
const remove = (organizationId: string, account: string, cleanup: string) =>
  World.query<object>(organizationId, (sql) =>
    sql`with gone as (
        delete from archive_page where account_id = ${account} and page_id = (
          select min(page_id) from archive_page where account_id = ${account} and kind = 'messages')
        returning organization_id, account_id, page_id, ${leafOf(sql)} as leaf
      )
      insert into archive_gone (organization_id, account_id, page_id, leaf, cleanup_id)
      select organization_id, account_id, page_id, leaf, ${cleanup}::uuid from gone`)

/** As the owner of the database, who may write to every table. */
const owns = (statement: string) =>
  asOwner((sql) =>
    Effect.orDie(Effect.forEach(
      [
        "alter table archive_manifest no force row level security",
        statement,
        "alter table archive_manifest force row level security"
      ],
      (each) => sql.unsafe(each),
      { discard: true }
    ))
  )

const first = (account: string) =>
  `page_id = (select min(page_id) from archive_page where account_id = '${account}' and kind = 'messages')`

const whole = { missing: 0, changed: 0, added: 0, unproven: 0, complete: true, cursor: null }

describe("the Merkle tree of pages", () => {
  it("is that of RFC 6962", () =>
    Effect.runPromise(Effect.gen(function*() {
      const leaf = (text: string) =>
        new Uint8Array(crypto.createHash("sha256").update(Buffer.from([0])).update(text, "hex").digest())
      // The inputs and roots of the reference implementation of certificate transparency.
      const inputs = [
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f"
      ]
      const roots = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"
      ]
      for (const [at, root] of roots.entries()) {
        const found = yield* merkleRoot(sha256, inputs.slice(0, at + 1).map(leaf))
        expect(hex(found)).toBe(root)
      }
    })))

  it("leaves others their turn while it is hashed", () =>
    Effect.runPromise(Effect.gen(function*() {
      let turns = 0
      const turn = () => {
        turns++
        next = setImmediate(turn)
      }
      let next = setImmediate(turn)
      yield* merkleRoot(sha256, Array.from({ length: 4096 }, (_, at) => Uint8Array.of(at & 0xff)))
      clearImmediate(next)
      expect(turns).toBeGreaterThanOrEqual(12)
    })))
})

describe("the manifests of an archive", () => {
  forEachDatabase((_, database) => {
    layer(World.world(database))((it) => {
      it.effect("cover every page once a day, in one event of the journal that a checkpoint signs", () =>
        Effect.gen(function*() {
          const staged = yield* stage()
          const { archives: [one], id } = staged
          const pages = yield* Deletions.countIn(id, "archive_page")
          expect(yield* verify(staged)).toMatchObject({ ...whole, pages, not_covered: 0 })
          yield* Archives.commit(one!, one!.writer.append(chatId, [seen(8000, 1, "later")], "sweep"))
          yield* makeArchiveManifests.run
          expect(yield* verify(staged)).toMatchObject({ ...whole, pages, not_covered: 1 })
          yield* TestClock.adjust("1 day")
          yield* makeArchiveManifests.run
          expect(yield* verify(staged)).toMatchObject({ ...whole, pages: pages + 1, not_covered: 0 })
          yield* TestClock.adjust("1 day")
          yield* makeArchiveManifests.run
          const events = (yield* World.journal(id)).filter(({ action }) => action === "archive.manifested")
          expect(events.map(({ details }) => [details["round"], details["manifests"], details["pages"]])).toEqual([
            [1, 2, pages],
            [2, 1, 1]
          ])
          const only = yield* verify(staged, { account_id: one!.account.accountId })
          expect(only).toMatchObject({ ...whole, not_covered: 0 })
          expect(only.pages).toBeLessThan(pages)
        }))

      it.effect("have the same leaf for a page before and after it is deleted", () =>
        Effect.gen(function*() {
          const staged = yield* stage()
          const { archives: [one], id } = staged
          const { account } = one!
          const pages = yield* (yield* Db).transaction(
            account.organizationId,
            Effect.flatMap(ArchiveManifests, (manifests) => manifests.pages(account, 0n, 100))
          )
          const expected = yield* Effect.forEach(pages.filter(({ kind }) => kind !== "chat"), (page) =>
            Effect.map(pageLeaf(sha256, page), (leaf) => [String(page.pageId), hex(leaf)] as const))
          yield* cleanUp(staged)
          const gone = yield* World.query<{ page: string; leaf: string }>(
            id,
            (sql) =>
              sql`select page_id::text as page, encode(leaf, 'hex') as leaf from archive_gone
                where account_id = ${account.accountId} order by page_id`
          )
          expect(gone.map(({ leaf, page }) => [page, leaf])).toEqual(expected)
        }))

      it.effect("show each page that is removed, changed, swapped or added, and no deletion of the service", () =>
        Effect.gen(function*() {
          const staged = yield* stage()
          const { archives: [one, other], id } = staged
          const { accountId } = one!.account
          const mine = `organization_id = '${id}' and account_id = '${accountId}'`
          const shows = Effect.fnUntraced(function*(fault: object, statements: ReadonlyArray<string>) {
            const kept = yield* World.query<{ rows: string }>(
              id,
              (sql) =>
                sql`select jsonb_agg(to_jsonb(archive_page))::text as rows from archive_page
                where organization_id = ${id}`
            )
            for (const statement of statements) yield* change(id, statement)
            expect([statements, yield* verify(staged)]).toEqual([statements, expect.objectContaining(fault)])
            yield* change(id, `delete from archive_page where organization_id = '${id}'`)
            yield* World.query<object>(
              id,
              (sql) =>
                sql`insert into archive_page
                  select * from jsonb_populate_recordset(null::archive_page, ${kept[0]?.rows ?? "[]"}::text::jsonb)`
            )
            expect(yield* verify(staged)).toMatchObject(whole)
          })
          yield* shows({ missing: 1, changed: 0 }, [`delete from archive_page where ${mine} and ${first(accountId)}`])
          yield* shows({ changed: 1, missing: 0 }, [
            `update archive_page set sealed = sealed || '\\x00'::bytea where ${mine} and ${first(accountId)}`
          ])
          yield* shows({ changed: 1 }, [
            `update archive_page set sealed = sealed || '\\x00'::bytea, bytes = bytes + 1,
              digest = sha256(sealed || '\\x00'::bytea) where ${mine} and ${first(accountId)}`
          ])
          yield* shows({ changed: 1 }, [
            `update archive_page set first_at = first_at - interval '1 day' where ${mine} and ${first(accountId)}`
          ])
          yield* shows({ added: 1, missing: 0 }, [
            `insert into archive_page (organization_id, account_id, chat_id, last_id, page_id, first_id, day, kind, first_at,
              last_at, messages, bytes, ids, digest, sealed)
              select organization_id, account_id, chat_id, last_id + 1, page_id, first_id, day, kind, first_at, last_at,
                messages, bytes, ids, digest, sealed from archive_page where ${mine} and ${first(accountId)}`
          ])

          yield* cleanUp(staged)
          expect(yield* verify(staged)).toMatchObject(whole)
          // A deletion that nobody journaled, with the leaf that it should have.
          yield* change(
            id,
            `with gone as (delete from archive_page where account_id = '${other!.account.accountId}' and ${
              first(other!.account.accountId)
            } returning *)
            insert into archive_gone (organization_id, account_id, page_id, leaf, cleanup_id)
              select organization_id, account_id, page_id, digest, gen_random_uuid() from gone`
          )
          expect((yield* verify(staged)).missing).toBe(1)
        }))

      it.effect("show pages that go under a cleanup or deletion that nobody began, whatever the service journals of it", () =>
        Effect.gen(function*() {
          const staged = yield* stage()
          const { archives: [one, other], id } = staged
          const [mine, theirs] = [one!.account.accountId, other!.account.accountId]
          const missing = Effect.map(verify(staged), (answer) => answer.missing)
          const unbegun = yield* makeCleanup(id, [mine], "running")
          yield* remove(id, mine, unbegun)
          expect(yield* missing).toBe(1)
          yield* change(id, `update archive_cleanup set deleted_pages = 1, emptied = 1 where id = '${unbegun}'`)
          yield* runArchiveCleanups.run
          expect((yield* World.journal(id)).at(-1)).toMatchObject({ action: "cleanup.finished", details: { pages: 1 } })
          expect(yield* missing).toBe(1)

          const deletion = crypto.randomUUID()
          yield* change(
            id,
            `insert into archive_deletion (organization_id, id, account_id, started_at)
              values ('${id}', '${deletion}', null, now())`
          )
          yield* remove(id, theirs, deletion)
          expect(yield* missing).toBe(2)

          // More pages than the cleanup that was confirmed had.
          const { key } = staged.admins.owner
          const { body } = yield* World.send("POST", "/v1/archive/cleanups", {
            key,
            body: { criteria: { account_ids: [mine] }, stop_saving: false }
          })
          const { confirm_phrase } = body
          yield* World.send("POST", `/v1/archive/cleanups/${body.id}/confirm`, { key, body: { confirm_phrase } })
          const confirmed = (yield* World.journal(id)).at(-1)?.details["pages"]
          const left = yield* Deletions.countIn(id, "archive_page", mine)
          expect(confirmed).toBe(left - 1)
          expect(yield* missing).toBe(2)
          yield* runArchiveCleanups.run
          expect(yield* missing).toBe(2)
          yield* remove(id, theirs, body.id)
          expect(yield* missing).toBe(3)
        }))

      it.effect("are compared by hashes that the database makes, while no other verification of the organization runs", () =>
        Effect.gen(function*() {
          const staged = yield* stage()
          const { account } = staged.archives[0]!
          const turns = yield* VerificationTurns
          const range = { after: 0n, upTo: 1n << 62n }
          const compared = yield* (yield* Db).read(
            account.organizationId,
            Effect.flatMap(ArchiveManifests, (manifests) => manifests.compared(account, range, 99))
          )
          expect(compared.length).toBeGreaterThan(1)
          for (const page of compared) {
            expect(page).not.toHaveProperty("sealed")
            expect(page.isWhole).toBe(true)
          }
          const other = yield* World.makeOrganization()
          const codeOf = (organization: Pick<Staged, "admins">) =>
            Effect.map(
              World.send("POST", "/v1/archive/verify", { key: organization.admins.owner.key, body: {} }),
              ({ body, headers, status }) => [status, body.error?.code, headers.get("retry-after")]
            )
          yield* Effect.scoped(Effect.gen(function*() {
            yield* turns.take(account.organizationId)
            expect(yield* codeOf(staged)).toEqual([503, "service_unavailable", "2"])
            expect(yield* codeOf(other)).toEqual([200, undefined, null])
          }))
          expect(yield* codeOf(staged)).toEqual([200, undefined, null])
        }))

      it.effect("show nothing of an account that is being deleted, and then of the whole archive", () =>
        Effect.gen(function*() {
          const staged = yield* stage()
          const { admins, archives: [one], id } = staged
          yield* Deletions.deleteAccount(one!.account, admins.owner.key)
          expect(yield* verify(staged)).toMatchObject(whole)
          yield* deleteArchives.run
          expect(yield* verify(staged)).toMatchObject(whole)
          yield* Deletions.deleteWhole(id, admins.owner.key)
          expect(yield* verify(staged)).toMatchObject(whole)
          yield* deleteArchives.run
          expect(yield* verify(staged)).toMatchObject(whole)
        }))

      it.effect("show a page of another account that goes under an account's deletion", () =>
        Effect.gen(function*() {
          const staged = yield* stage()
          const { admins, archives: [one, other], id } = staged
          yield* Deletions.deleteAccount(one!.account, admins.owner.key)
          const deletion = (yield* World.journal(id)).at(-1)?.details["deletion"]
          yield* remove(id, other!.account.accountId, String(deletion))
          expect((yield* verify(staged)).missing).toBe(1)
        }))

      it.effect("cannot be written anew without the journal", () =>
        Effect.gen(function*() {
          const staged = yield* stage()
          const { archives: [one], id } = staged
          const mine = `organization_id = '${id}' and account_id = '${one!.account.accountId}'`
          yield* owns(`update archive_manifest set root = '\\x00', hash = '\\x01' where ${mine}`)
          expect((yield* verify(staged)).unproven).toBeGreaterThan(0)
          yield* owns(`delete from archive_manifest where organization_id = '${id}'`)
          const { not_covered, unproven } = yield* verify(staged)
          expect([unproven > 0, not_covered > 0]).toEqual([true, true])
        }))
    })
  })
})
