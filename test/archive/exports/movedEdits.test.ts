import { describe, expect, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { exportedMessages } from "../../../src/archive/exports/ExportReader.ts"
import { makeTally } from "../../../src/archive/exports/ExportTally.ts"
import { frameBytesAtOnce } from "../../../src/domain/archive/PageRules.ts"
import { ExportRecords } from "../../../src/ports/archive/ExportRecords.ts"
import { Db } from "../../../src/ports/Db.ts"
import * as Archives from "../../support/archive/archives.ts"
import { postgres } from "../../support/postgres/database.ts"
import * as World from "../../support/world.ts"

const { beginning, chat, chatId, commit, seen } = Archives

describe("an export that is made while a tail is closed", () => {
  layer(World.core(postgres))((it) => {
    it.effect("has each edit once, in whatever place it finds it", () =>
      Effect.gen(function*() {
        const archive = yield* Archives.makeArchive()
        const writer = yield* Archives.write(archive)
        yield* commit(archive, writer.see(chat))
        yield* commit(archive, writer.append(chatId, [seen(1, 90_000, "sent")], "sweep"))
        for (const nth of [0, 1, 2, 3]) {
          const edited = seen(1, 90_000, `edit ${nth}`, { edited_at: beginning / 1000 - 80_000 + nth })
          yield* commit(archive, writer.append(chatId, [edited], "live"))
        }
        const exports = yield* ExportRecords
        const listed: Array<number> = []
        const large = ExportRecords.of({
          ...exports,
          editPlaces: (...asked) =>
            Effect.map(exports.editPlaces(...asked), (places) => {
              listed.push(places.length)
              return places.map((place) => ({ ...place, bytes: frameBytesAtOnce }))
            })
        })
        const db = yield* Db
        let reads = 0
        const closing = Db.of({
          ...db,
          read: (organizationId, effect) =>
            Effect.tap(db.read(organizationId, effect), () => {
              if (listed.length === 0 || ++reads !== 3) return Effect.void
              return Effect.orDie(writer.close("all"))
            })
        })
        const scope = {
          open: yield* Archives.open(archive),
          days: { chatIds: null, firstDay: "2000-01-01", lastDay: "2100-01-01" },
          until: new Date(beginning + 1),
          media: false,
          tally: makeTally()
        }
        const [message] = yield* Stream.runCollect(exportedMessages(scope, chatId)).pipe(
          Effect.provideService(ExportRecords, large),
          Effect.provideService(Db, closing)
        )
        // Two of four tail rows were read, then the page.
        expect(listed).toEqual([4, 1])
        expect(message?.revisions.map(({ text }) => text)).toEqual(["sent", "edit 0", "edit 1", "edit 2", "edit 3"])
        expect(scope.tally).toMatchObject({ edits: 4, lostEdits: 0 })
      }).pipe(Effect.scoped))
  })
})
