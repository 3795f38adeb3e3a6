import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { openEpoch } from "../../../../src/archive/EpochKeys.ts"
import { search, type SearchRequest, type SearchResult } from "../../../../src/archive/Search.ts"
import type { SearchKeys } from "../../../../src/archive/SearchMatches.ts"
import { sealVocabulary } from "../../../../src/archive/Vocabularies.ts"
import type { AccountId } from "../../../../src/domain/accounts/Account.ts"
import { dayOf } from "../../../../src/domain/archive/PageRules.ts"
import { searchWords } from "../../../../src/domain/archive/SearchWords.ts"
import { ArchiveUnreadable } from "../../../../src/domain/archive/Unreadable.ts"
import type { ArchiveCrypto } from "../../../../src/ports/archive/ArchiveCrypto.ts"
import { Epochs } from "../../../../src/ports/archive/Epochs.ts"
import { SearchStore } from "../../../../src/ports/archive/SearchStore.ts"
import { Db } from "../../../../src/ports/Db.ts"
import * as Archives from "../../../support/archive/archives.ts"
import { dropBlocks } from "../../../support/archive/loosePages.ts"
import { makeVocabulary } from "../../../support/archive/vocabularies.ts"
import { forEachDatabase } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"

const { commit, seen } = Archives

const shared = { ...Archives.chat, chatId: -1_000_000_000_007n, type: "channel" as const }

type Accounts = readonly [Archives.Archive, ...ReadonlyArray<Archives.Archive>]

/** Opens epochs of accounts by the seed of their key. */
const keysOf = (archives: ReadonlyArray<Archives.Archive>) =>
  Effect.fnUntraced(function*(accountId: AccountId, epochId: bigint) {
    const archive = archives.find(({ account }) => account.accountId === accountId)
    if (archive === undefined) return yield* new ArchiveUnreadable({ part: "epoch" })
    const [epoch] = yield* Effect.flatMap(Db, (db) =>
      db.read(
        archive.account.organizationId,
        Effect.flatMap(Epochs, (epochs) => epochs.sealed(archive.account, [epochId]))
      ))
    if (epoch?.sealedKey === null || epoch === undefined) return yield* new ArchiveUnreadable({ part: "epoch" })
    const ref = { ...archive.account, epochId, keyId: epoch.keyId }
    return yield* openEpoch(ref, epoch.sealedKey, archive.key.seed)
  })

const requestOf = ([first, ...others]: Accounts, query: string, scope = {}): SearchRequest => ({
  scope: {
    organizationId: first.account.organizationId,
    accountIds: [first, ...others].map(({ account }) => account.accountId),
    chatIds: null,
    since: null,
    until: null,
    ...scope
  },
  words: searchWords(query),
  fromId: null,
  kind: null,
  limit: 20,
  position: null
})

/** The texts that are found, a few at a time, and the number of messages that were searched. */
const found = Effect.fnUntraced(function*(
  archives: Accounts,
  query: string,
  scope = {},
  limit = 2
) {
  const keys: SearchKeys<Db | Epochs | ArchiveCrypto> = keysOf(archives)
  const texts: Array<string | null> = []
  let position: SearchResult["position"] = null
  do {
    const result: SearchResult = yield* search(keys, { ...requestOf(archives, query, scope), limit, position })
    expect(result.unreadable).toBe(0)
    texts.push(...result.hits.map(({ alsoIn, message }) => `${message.text}${" +".repeat(alsoIn.length)}`))
    position = result.position
  } while (position !== null)
  return texts
})

/** An account with pages, rows of the tail, edits in both, and a chat that it shares. */
const makeSearched = Effect.fnUntraced(function*(like?: Archives.Archive) {
  const archive = yield* Archives.makeArchive(like?.account.organizationId, like?.key)
  const writer = yield* Archives.write(archive)
  const at = Archives.beginning / 1000
  yield* commit(archive, writer.see(Archives.chat))
  yield* commit(archive, writer.see(shared))
  const old = [seen(1, 200_000, "Harbour first"), seen(2, 190_000, "Lantern"), seen(3, 100_000, "harbours third")]
  yield* commit(archive, writer.append(Archives.chatId, old, "sweep"))
  yield* commit(archive, writer.append(shared.chatId, [seen(9, 150_000, "shared harbour")], "sweep"))
  const edited = { ...seen(2, 190_000, "now a HARBOUR", { edited_at: at - 500 }) }
  yield* commit(archive, writer.append(Archives.chatId, [edited], "live"))
  yield* commit(archive, writer.append(Archives.chatId, [seen(4, 60, "live harbour")], "live"))
  return { archive, writer }
})

describe("the archive's search in SQL", () => {
  forEachDatabase((_, database) => {
    layer(World.core(database))((it) => {
      it.effect("finds messages in pages and in the tail, and by their edits, newest first", () =>
        Effect.gen(function*() {
          const { archive, writer } = yield* makeSearched()
          const all = ["live harbour", "harbours third", "shared harbour", "Lantern", "Harbour first"]
          expect(yield* found([archive], "harbour")).toEqual(all)
          yield* writer.close("all")
          expect(yield* found([archive], "harbour")).toEqual(all)
          expect(yield* found([archive], "lantern harbour")).toEqual([])
          expect(yield* found([archive], "absent")).toEqual([])
          const at = Archives.beginning / 1000
          expect(yield* found([archive], "harbour", { since: at - 150_000 })).toEqual(all.slice(0, 3))
          expect(yield* found([archive], "harbour", { until: at - 150_000 })).toEqual(all.slice(3))
          expect(yield* found([archive], "harbour", { chatIds: [shared.chatId] })).toEqual(["shared harbour"])
        }))

      it.effect("reads no edit of a message that was sent after its end or before its beginning, and no deletion", () =>
        Effect.gen(function*() {
          const { archive, writer } = yield* makeSearched()
          const at = Archives.beginning / 1000
          const day = 86_400
          const old = [40, 41].map((days) => dayOf(at - days * day))
          yield* commit(
            archive,
            writer.append(Archives.chatId, [seen(5, 40 * day, "quay"), seen(6, 41 * day, "quay")], "sweep")
          )
          const edits = (path: "sweep" | "live") =>
            Effect.gen(function*() {
              const edited_at = at - (path === "sweep" ? 300 : 200)
              for (const [id, before] of [[5, 40 * day], [6, 41 * day], [4, 60]] as const) {
                const edited = seen(id, before, `${path} pier`, { edited_at })
                yield* commit(archive, writer.append(Archives.chatId, [edited], path))
              }
            })
          yield* edits("sweep")
          yield* edits("live")
          yield* commit(archive, writer.mark(Archives.chatId, [1n, 3n], "deleted", "live"))
          const read: Array<string> = []
          const store = yield* SearchStore
          const noting = SearchStore.of({
            ...store,
            sealed: (scope, pages) =>
              Effect.tap(
                store.sealed(scope, pages),
                (found) =>
                  Effect.sync(() => read.push(...found.map(({ page }) => `${page.kind} ${dayOf(page.lastAt)}`)))
              )
          })
          const reads = (scope: object) =>
            Effect.gen(function*() {
              const texts = yield* Effect.provideService(found([archive], "pier", scope), SearchStore, noting)
              return { texts: texts.length, read: read.splice(0) }
            })
          for (const closed of [false, true]) {
            if (closed) yield* writer.close("all")
            expect((yield* reads({})).texts).toBe(3)
            const early = yield* reads({ until: at - 30 * day })
            expect(early.texts).toBe(2)
            expect(new Set(early.read)).toEqual(new Set(old.flatMap((sent) => [`messages ${sent}`, `changes ${sent}`])))
            const late = yield* reads({ since: at - 10 * day })
            expect(late.texts).toBe(1)
            expect(late.read.filter((page) => old.some((sent) => page.endsWith(sent)))).toEqual([])
          }
          const { deleted } = (yield* World.query<{ deleted: number }>(archive.account.organizationId, (sql) =>
            sql`select count(*)::integer as deleted from archive_page
              where account_id = ${archive.account.accountId} and kind = 'changes' and sent_day is null`))[0]!
          expect(deleted).toBe(1)
        }))

      it.effect("answers a message of a channel once for its accounts, and nothing of other accounts", () =>
        Effect.gen(function*() {
          const one = (yield* makeSearched()).archive
          const two = (yield* makeSearched(one)).archive
          yield* makeSearched()
          const both = yield* found([one, two], "harbour", {}, 3)
          expect(both).toHaveLength(9)
          expect(both.filter((text) => text?.endsWith("+"))).toEqual(["shared harbour +"])
          expect(yield* found([two], "harbour")).toHaveLength(5)
        }))

      it.effect("opens the pages that a block's vocabulary names, and scans them again once it is dropped", () =>
        Effect.gen(function*() {
          const { archive, writer } = yield* makeSearched()
          yield* writer.close("all")
          const { account } = archive
          const [page] = yield* World.query<{ page_id: number; epoch: number }>(
            account.organizationId,
            (sql) =>
              sql`select page_id, (select max(epoch_id) from archive_epoch where account_id = ${account.accountId}) as epoch
                from archive_page where account_id = ${account.accountId} and chat_id = ${shared.chatId}
                  and kind = 'messages'`
          )
          const epochId = BigInt(page?.epoch ?? 0)
          const key = yield* keysOf([archive])(account.accountId, epochId)
          // A vocabulary that lacks the page's word shows that the page is left out by it.
          const sealed = yield* sealVocabulary(key, 1n, makeVocabulary([["another word"]], 1))
          const number = page?.page_id ?? 0
          yield* World.query(account.organizationId, (sql) =>
            sql`with indexed as (
                delete from archive_loose where account_id = ${account.accountId} and page_id = ${number} returning *
              )
              insert into archive_block (organization_id, account_id, block_id, first_at, last_at, pages, epoch_id, fold,
                sealed)
              select organization_id, account_id, 1, first_at, last_at, array[page_id], ${epochId}, 1, ${sealed}
              from indexed`)
          expect(yield* found([archive], "harbour")).not.toContain("shared harbour")
          expect(yield* found([archive], "other")).toEqual([])
          yield* dropBlocks(account.organizationId)
          expect(yield* found([archive], "harbour")).toContain("shared harbour")
        }))
    })
  })
})
