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

    it.effect("may tell of a message whose time had run out: that is known by the time alone, and once", () =>
      Effect.gen(function*() {
        const { archives: [one] } = yield* Deletions.stage(1)
        const { account } = one!
        const at = (seconds: number) => new Date(Archives.beginning + seconds * 1000)
        const within = <A, E>(work: (store: CaptureStore["Service"]) => Effect.Effect<A, E>) =>
          Archives.commit({ account }, Effect.flatMap(CaptureStore, work))
        const sentAt = at(0)
        const expiring = [10, 20, 30].map((seconds, place) => ({
          id: BigInt(place + 1),
          sentAt,
          expiresAt: at(seconds)
        }))
        yield* within((store) => store.expect(account, Archives.chatId, expiring))
        yield* within((store) => store.expect(account, Archives.chatId, [{ id: 2n, sentAt, expiresAt: at(40) }]))
        const ids = [1n, 2n, 3n, 4n]
        expect([...yield* within((store) => store.expired(account, Archives.chatId, ids, at(30)))].toSorted()).toEqual([
          1n,
          3n
        ])
        const take = within((store) => store.takeExpired(account, at(30), 1))
        expect(yield* take).toEqual([{ chatId: Archives.chatId, id: 1n }])
        expect(yield* take).toEqual([{ chatId: Archives.chatId, id: 3n }])
        expect(yield* take).toEqual([])
      }))
  })
})
