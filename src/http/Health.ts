/** What a supervisor asks: whether the process lives, and whether it can serve. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Gate } from "../edge/Settings.ts"
import { Db } from "../ports/Ports.ts"

const status = (text: "ok" | "unavailable") =>
  HttpServerResponse.jsonUnsafe({ status: text }, {
    status: text === "ok" ? 200 : 503,
    headers: { "cache-control": "no-store" }
  })

/** 200 as long as the process answers. */
export const alive = Effect.sync(() => status("ok"))

/** 200 while the database answers, 503 while it does not. */
export const ready = Effect.gen(function*() {
  const db = yield* Db
  return yield* Effect.match(Effect.andThen(yield* Gate, db.check), {
    onSuccess: () => status("ok"),
    onFailure: () => status("unavailable")
  })
})
