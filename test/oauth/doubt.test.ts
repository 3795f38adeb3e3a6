import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { DoubtDeadline } from "../../src/layers/sql/oauth/OAuthGrants.ts"
import { type Cut, cuttable } from "../support/postgres/cuttable.ts"
import { postgresUrl } from "../support/postgres/database.ts"
import { replica } from "../support/replicas.ts"
import { connected, connections, ok, redeemWith, refreshWith, refused, stage, tokens, use } from "./support.ts"

/** The service on a database whose connection can be cut. */
const service = Effect.gen(function*() {
  const way = yield* cuttable(yield* postgresUrl)
  return { way, within: yield* replica(way.url) }
})

const isLive = (id: string) => Effect.map(connections(id), ([connection]) => connection?.revoked_at === null)

describe("a token request whose COMMIT is cut", () => {
  const cases: ReadonlyArray<readonly [Cut, string]> = [
    ["after", "after the server did it: the tokens are answered and work"],
    ["before", "before it arrives: nothing is answered, and the next try with the same token gets tokens"],
    ["held", "on its way: the outcome is waited for, and answered when it is known"]
  ]
  for (const [cut, title] of cases) {
    it.live(`a refresh is cut ${title}`, () =>
      Effect.gen(function*() {
        const { way, within } = yield* service
        const made = yield* within(connected())
        way.arm(cut)
        const asked = yield* Effect.forkChild(within(refreshWith(made.application, made.tokens.refresh_token)))
        yield* way.done
        way.letGo()
        const answer = yield* Fiber.join(asked)
        if (cut === "before") {
          expect([answer.status, answer.headers.get("retry-after") !== null]).toEqual([503, true])
          const again = tokens(yield* within(refreshWith(made.application, made.tokens.refresh_token)))
          expect(yield* within(use(again.access_token))).toEqual(ok)
        } else {
          expect(yield* within(use(tokens(answer).access_token))).toEqual(ok)
          expect((yield* within(refreshWith(made.application, tokens(answer).refresh_token))).status).toBe(200)
        }
        expect(yield* within(isLive(made.organization.id))).toBe(true)
        const replayed = yield* within(refreshWith(made.application, made.tokens.refresh_token))
        expect(refused(replayed)).toEqual([400, "invalid_grant"])
        expect(yield* within(isLive(made.organization.id))).toBe(false)
      }))
  }

  it.live("a code that is redeemed is resolved alike", () =>
    Effect.gen(function*() {
      const { way, within } = yield* service
      const { connect } = yield* within(stage())
      const first = yield* within(connect())
      way.arm("after")
      expect(yield* within(use(tokens(yield* within(redeemWith(first))).access_token))).toEqual(ok)
    }))

  it.live("where the database does not come back in time, the answer is 503, and the tokens are refreshed once it does", () =>
    Effect.gen(function*() {
      const { way, within } = yield* service
      const made = yield* within(connected())
      way.arm("before", { away: true })
      const answer = yield* within(refreshWith(made.application, made.tokens.refresh_token)).pipe(
        Effect.provideService(DoubtDeadline, "50 millis")
      )
      expect(answer.status).toBe(503)
      way.mend()
      const again = yield* within(refreshWith(made.application, made.tokens.refresh_token))
      expect(yield* within(use(tokens(again).access_token))).toEqual(ok)
    }))
})
