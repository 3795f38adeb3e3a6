/** What a supervisor asks: whether the process lives, and whether it can serve. */
import { Duration, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Readiness } from "../edge/Settings.ts"
import { Db } from "../ports/Db.ts"

const status = (text: "ok" | "unavailable") =>
  HttpServerResponse.jsonUnsafe({ status: text }, {
    status: text === "ok" ? 200 : 503,
    headers: { "cache-control": "no-store" }
  })

/** 200 as long as the process answers. */
export const alive = Effect.sync(() => status("ok"))

/** How long an answer of the database holds, for whoever asks: nobody makes work for it by asking often. */
const kept = Duration.seconds(1)

/** 200 while the database answers, 503 while it does not; all who ask within a second share one question. */
export const makeReady = Db.use(({ check }) => Effect.cachedWithTTL(check, kept)).pipe(
  Effect.map((check) =>
    Effect.match(Effect.andThen(Effect.flatten(Readiness), check), {
      onSuccess: () => status("ok"),
      onFailure: () => status("unavailable")
    })
  )
)
