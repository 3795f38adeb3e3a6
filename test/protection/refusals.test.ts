import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import * as Worker from "../../src/layers/Worker.ts"
import { postgres } from "../support/postgres/database.ts"
import { arrange, makeWatched } from "../support/protection/watched.ts"
import { jump } from "../support/protection/watching.ts"
import * as World from "../support/world.ts"

const logged: Array<string> = []
const logger = Logger.make(({ message }) => {
  logged.push((Array.isArray(message) ? message : [message]).join(": "))
})
const about = (text: string) => logged.filter((line) => line.includes(text))

describe("12.4 what the messenger refuses", () => {
  layer(
    Worker.layer().pipe(Layer.provideMerge(World.world(postgres)), Layer.provideMerge(Logger.layer([logger])))
  )((it) => {
    it.effect("to the watch is kept with the account, and its log names each cause once an hour", () =>
      Effect.gen(function*() {
        const organization = yield* arrange()
        const { done, platform, read, userId } = organization
        const other = yield* makeWatched(organization)
        yield* jump("1 minute")
        const refusal = { _tag: "Refused", reason: "FROZEN\nMETHOD" } as const
        for (const id of [userId, other.userId]) {
          yield* platform.script({ userId: id, operation: "authorizations", answer: refusal, times: 100 })
        }
        for (let poll = 0; poll < 4; poll++) yield* jump("75 seconds")
        assert.strictEqual((yield* read).monitoring.last_poll_error, "refused: FROZEN METHOD")
        assert.strictEqual((yield* read).status, "status_unknown")
        assert.include(yield* done, "monitoring.lost")
        const line = "The messenger did not let the service read an account's sessions: FROZEN METHOD"
        assert.lengthOf(about(line), 1)
        yield* jump("1 hour")
        assert.lengthOf(about(line), 2)
        yield* platform.clearScripts
        yield* jump("6 minutes")
        assert.isNull((yield* read).monitoring.last_poll_error)
      }))

    it.effect("when a session is signed out is in the log", () =>
      Effect.gen(function*() {
        const { platform, stranger, userId } = yield* arrange()
        yield* jump("1 minute")
        yield* stranger
        yield* jump("75 seconds")
        yield* platform.script({ userId, operation: "sign_out", answer: { _tag: "Refused", reason: "HASH_INVALID" } })
        yield* jump("12 hours")
        assert.deepStrictEqual(about("sign a session out"), [
          "The messenger did not let the service sign a session out: HASH_INVALID"
        ])
      }))

    it.effect("to a request that answers 503 is in the log with its cause", () =>
      Effect.gen(function*() {
        const { account, admins, platform, userId } = yield* arrange()
        const answers = [
          [{ _tag: "Busy", seconds: 7 }, "a flood wait of 7 seconds"],
          [{ _tag: "Unavailable" }, "no answer"]
        ] as const
        for (const [answer, cause] of answers) {
          yield* platform.script({ userId, operation: "profile", answer })
          const { status } = yield* World.get(`/v1/accounts/${account}/messenger-profile`, admins.owner.key)
          assert.strictEqual(status, 503)
          assert.strictEqual(logged.at(-1), `The messenger is not available: ${cause}`)
        }
      }))
  })
})
