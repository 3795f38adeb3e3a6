import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { CaptureStore } from "../../src/ports/archive/CaptureStore.ts"
import * as Archives from "../support/archive/archives.ts"
import * as Deletions from "../support/archive/deletions.ts"
import { pglite } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const channel = -1_000_000_007_002n

describe("a deletion that names no chat", () => {
  layer(World.world(pglite))((it) => {
    it.effect("is never one of a channel's messages, also where the channel's position was lost", () =>
      Effect.gen(function*() {
        const { archives: [one] } = yield* Deletions.stage(1)
        const { account, writer } = one!
        yield* Archives.commit({ account }, writer.see({ ...Archives.chat, chatId: channel, type: "channel" }))
        const messages = [Archives.seen(1, 60, "channel"), Archives.seen(2, 50, "channel")]
        yield* Archives.commit({ account }, writer.append(channel, messages, "sweep"))
        yield* Archives.commit({ account }, writer.append(channel, [Archives.seen(3, 40, "channel")], "live"))
        const found = yield* Archives.commit(
          { account },
          Effect.flatMap(CaptureStore, (store) => store.chatsOf(account, [1n, 2n, 3n]))
        )
        expect(found.map(({ chatId }) => chatId)).toEqual([Archives.chatId])
      }))
  })
})
