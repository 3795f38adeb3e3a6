/** What a supervisor asks: whether the process lives, and whether it can serve. */
import { Context, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { ServiceUnavailable } from "../domain/Failure.ts"

/** Whether everything that a request needs can be reached now. */
export class Readiness extends Context.Service<Readiness, {
  readonly check: Effect.Effect<void, ServiceUnavailable>
}>()("org-security-console/http/Health/Readiness") {}

const status = (text: "ok" | "unavailable") =>
  HttpServerResponse.jsonUnsafe({ status: text }, {
    status: text === "ok" ? 200 : 503,
    headers: { "cache-control": "no-store" }
  })

/** 200 as long as the process answers. */
export const alive = Effect.sync(() => status("ok"))

/** 200 while the database answers, 503 while it does not. */
export const ready = Effect.gen(function*() {
  const readiness = yield* Readiness
  return yield* Effect.match(readiness.check, {
    onSuccess: () => status("ok"),
    onFailure: () => status("unavailable")
  })
})
