import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { EventTurns } from "../../src/transport/EventTurns.ts"

describe("streams of events", () => {
  it.effect("are open as many as a session, an organization and a process may have at a time", () =>
    Effect.gen(function*() {
      const turns = new EventTurns({ session: 2, organization: 3, process: 4 })
      const take = (session: string, organization: string) =>
        Effect.match(turns.take(session, organization), { onFailure: ({ _tag }) => _tag, onSuccess: (turn) => turn })
      const first = yield* Effect.orDie(turns.take("a", "one"))
      yield* take("a", "one")
      expect(yield* take("a", "one")).toBe("rate_limited")
      yield* take("b", "one")
      expect(yield* take("c", "one")).toBe("rate_limited")
      yield* take("d", "two")
      expect(yield* take("e", "three")).toBe("service_unavailable")
      // A turn that is given back twice counts once.
      yield* first.release
      yield* first.release
      expect(yield* take("e", "three")).toMatchObject({ release: expect.anything() })
      expect(yield* take("f", "two")).toBe("service_unavailable")
    }))
})
