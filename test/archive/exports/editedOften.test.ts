import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as crypto from "node:crypto"
import { ArchiveWriter } from "../../../src/ports/archive/ArchiveWriter.ts"
import { ExportRecords } from "../../../src/ports/archive/ExportRecords.ts"
import { Db } from "../../../src/ports/Db.ts"
import { setArchiveKey } from "../../support/archive/archiveKeys.ts"
import * as Archives from "../../support/archive/archives.ts"
import { keyOf } from "../../support/archive/deletions.ts"
import { download } from "../../support/archive/exportedArchive.ts"
import { entriesOfZip } from "../../support/archive/zips.ts"
import { postgres } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"

const { beginning, chat, chatId, commit, seen } = Archives

const nths = Array.from({ length: 1200 }, (_, nth) => nth)
const edit = (id: number, nth: number) =>
  seen(id, 90_000, `edit ${nth} of ${id}`, { edited_at: beginning / 1000 - 80_000 + nth })

/** A message that was edited 1,200 times, one that was edited once, and one that was not. */
const stage = Effect.gen(function*() {
  yield* TestClock.setTime(beginning)
  const { admins, id } = yield* World.makeOrganization({ archive_key_set: false })
  yield* setArchiveKey(id)
  const accountId = yield* World.makeAccount(id, { facts: { offboarded_at: new Date(0) } })
  const account = { organizationId: id, accountId }
  const writer = yield* (yield* ArchiveWriter).own(account, yield* keyOf(id), crypto.randomUUID())
  const sent = [1, 2, 3].map((id) => seen(id, 90_000, `text ${id}`))
  yield* commit({ account }, writer.see(chat))
  yield* commit({ account }, writer.append(chatId, sent, "sweep"))
  for (let from = 0; from < nths.length; from += 100) {
    const edits = nths.slice(from, from + 100).map((nth) => edit(1, nth))
    yield* commit({ account }, writer.append(chatId, edits, "sweep"))
  }
  yield* commit({ account }, writer.append(chatId, [edit(2, 0)], "sweep"))
  return { account, key: admins.owner.key }
})

describe("an export of messages that were edited very often", () => {
  layer(World.world(postgres))((it) => {
    it.effect("has their oldest 1,000 edits and the newest, and says how many it leaves out", () =>
      Effect.gen(function*() {
        const { account, key } = yield* stage
        const contentsOf = Effect.fnUntraced(function*(format: string) {
          const criteria = { account_ids: [account.accountId] }
          const made = yield* World.send("POST", "/v1/archive/exports", { key, body: { criteria, format } })
          const { bytes } = yield* download(key, made.body.id)
          const entries = entriesOfZip(bytes)
          return (end: string) => entries.find(({ path }) => path.endsWith(end))?.content.toString() ?? ""
        })
        const contents = yield* contentsOf("json")
        const [often, once, never] = JSON.parse(contents("result.json")).messages
        const texts = ["text 1", ...nths.slice(0, 1000).map((nth) => `edit ${nth} of 1`), "edit 1199 of 1"]
        expect(often.edits.map(({ text }: { text: string }) => text)).toEqual(texts)
        expect([often.text, often.edits_left_out, often.unreadable_edits]).toEqual(["edit 1199 of 1", 199, undefined])
        expect([once.text, once.edits.length, once.edits_left_out]).toEqual(["edit 0 of 2", 2, undefined])
        expect([never.text, never.edits, never.edits_left_out]).toEqual(["text 3", undefined, undefined])
        expect(JSON.parse(contents("manifest.json"))).toMatchObject({
          found: { messages: 3, edits: 1002 },
          unreadable: { edits: 0 },
          edits_left_out: 199
        })
        expect((yield* contentsOf("html"))(".html")).not.toBe("")
        expect((yield* contentsOf("eml"))(".eml")).not.toBe("")
      }).pipe(Effect.scoped))

    it.effect("reads the pages alone that have their oldest edits and the newest", () =>
      Effect.gen(function*() {
        const { account } = yield* stage
        const exports = yield* ExportRecords
        const db = yield* Db
        const asked = { ids: [1n, 2n, 3n], until: new Date(beginning + 1), oldest: 150 }
        const read = <A>(effect: Effect.Effect<A>) => db.read(account.organizationId, effect)
        const places = yield* read(exports.editPlaces(account, chatId, asked))
        // Two pages have the oldest 150, one has the newest, and one has the other message's.
        const frames = yield* read(exports.frames(account, chatId, places.map(({ number }) => number)))
        expect(places).toHaveLength(4)
        expect(frames.map(({ number, sealed }) => ({ number, bytes: sealed.length }))).toEqual(places)
      }).pipe(Effect.scoped))
  })
})
