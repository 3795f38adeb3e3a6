import { Effect } from "effect"
import { before, now } from "../../domain/Moments.ts"
import { codeMemory, unusedClientLifetime } from "../../domain/oauth/OAuth.ts"
import { OAuthLeftovers } from "../../ports/oauth/OAuthLeftovers.ts"
import * as Job from "../Job.ts"

export const forgetOAuth = Job.make("forget_oauth", {
  period: "10 minutes",
  does: "deletes expired tokens and codes, and applications that no admin has connected",
  run: Effect.gen(function*() {
    const { forget } = yield* OAuthLeftovers
    const at = yield* now
    // The second use of a code is recognised for as long as it is remembered.
    yield* forget({ now: at, codes: before(at, codeMemory), clients: before(at, unusedClientLifetime) })
  })
})
