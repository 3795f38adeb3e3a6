import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Refusal } from "../../../support/dataCentre/Faults.ts"
import * as DataCentre from "../../../support/dataCentre/index.ts"
import { arrangedChats } from "../simulated/chatsHarness.ts"

const world = Effect.map(DataCentre.Loopback, ({ world }) => world)

layer(DataCentre.layer)((it) => {
  it.effect("a chat of which the data centre fails to answer is refused, and it is away where it has no time", () =>
    Effect.gen(function*() {
      const { centre } = yield* DataCentre.Loopback
      const { feed, join, reader, seen } = yield* arrangedChats(world)()
      const { where } = yield* join("group")
      const { position, ref } = yield* seen(where.chatId)
      const calls = {
        "messages.getHistory": reader.history(ref, null, 10),
        "channels.getMessages": reader.messages(ref, [1n]),
        "updates.getChannelDifference": feed.channelDifference(ref, position ?? 1)
      }
      for (const [request, call] of Object.entries(calls)) {
        for (
          const [code, text, failure] of [
            [500, "HISTORY_GET_FAILED", "PlatformRefused"],
            [500, "PERSISTENT_TIMESTAMP_OUTDATED", "PlatformRefused"],
            [-503, "Timeout", "PlatformUnavailable"]
          ] as const
        ) {
          centre.faults.push({ request, does: new Refusal(code, text), times: 1 })
          expect([request, text, (yield* Effect.flip<unknown, unknown, never>(call)) as object]).toMatchObject([
            request,
            text,
            { _tag: failure }
          ])
        }
      }
    }))
})
