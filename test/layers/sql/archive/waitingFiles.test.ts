import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { WaitingFiles } from "../../../../src/ports/archive/WaitingFiles.ts"
import * as Archives from "../../../support/archive/archives.ts"
import { forSpecification } from "../../../support/postgres/database.ts"
import * as World from "../../../support/world.ts"

const MiB = 1024 * 1024

describe("files that wait", () => {
  forSpecification((_, database) => {
    layer(World.core(database))((it) => {
      it.effect("have their turn from 10 MiB on after all smaller ones, the newest first", () =>
        Effect.gen(function*() {
          const archive = yield* Archives.makeArchive()
          const writer = yield* Archives.write(archive)
          yield* Archives.commit(archive, writer.see(Archives.chat))
          yield* World.query(archive.account.organizationId, (sql) => sql`update archive_chat set ref = 'x'`)
          const messages = [7, 10 * MiB, 10 * MiB - 1, 4096 * MiB].map((bytes, n) =>
            Archives.seen(n + 1, 100 - n, "", { files: [{ ...Archives.file("x"), bytes }] })
          )
          yield* Archives.commit(archive, writer.append(Archives.chatId, messages, "sweep"))
          const waiting = yield* WaitingFiles
          const now = new Date(Archives.beginning)
          const turns: Array<bigint> = []
          for (let turn = 0; turn < messages.length; turn++) {
            const [next] = yield* Archives.commit(archive, waiting.next(archive.account, now, 1))
            if (next === undefined) break
            turns.push(next.messageId)
            yield* Archives.commit(archive, waiting.giveUp(archive.account, [next.fileId], "gone", now))
          }
          expect(turns).toEqual([3n, 1n, 4n, 2n])
        }))
    })
  })
})
