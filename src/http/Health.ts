/** The health checks: whether the process is alive, and whether it can serve. */
import { Duration, Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { Db } from "../ports/Db.ts"
import {
  type MessengerState,
  MessengerStatus,
  Readiness,
  Watching,
  type WatchState
} from "../transport/TransportSettings.ts"

interface HealthFacts {
  readonly watch: WatchState | null
  readonly messenger: MessengerState | null
}

const status = (text: "ok" | "unavailable", { messenger, watch }: HealthFacts = { messenger: null, watch: null }) =>
  HttpServerResponse.jsonUnsafe({
    status: text,
    ...(watch === null ? {} : { watch }),
    ...(messenger === null ? {} : { messenger })
  }, {
    status: text === "ok" ? 200 : 503,
    headers: { "cache-control": "no-store" }
  })

/** 200 as long as the process answers. */
export const alive = Effect.sync(() => status("ok"))

/** The time that an answer of the database is reused, so that frequent probes do not load it. */
const kept = Duration.seconds(1)

/** A messenger that is away does not make a process unready: most of what it serves needs none. */
const known = Effect.all({ watch: Effect.flatten(Watching), messenger: Effect.flatten(MessengerStatus) })

/** 200 while the database answers, 503 while it does not; all who ask within a second share one question. */
export const makeReady = Db.use(({ check }) => Effect.cachedWithTTL(check, kept)).pipe(
  Effect.map((check) =>
    Effect.match(Effect.flatten(Readiness).pipe(Effect.andThen(check), Effect.andThen(known)), {
      onSuccess: (known) => status("ok", known),
      onFailure: () => status("unavailable")
    })
  )
)

/** The answers of a process that serves no interface: its health, and nothing else. */
export const only = Effect.map(
  makeReady,
  (ready) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ method, url }) => {
      const path = url.split("?", 1)[0]
      if (method === "GET" && path === "/healthz") return alive
      if (method === "GET" && path === "/readyz") return ready
      return Effect.succeed(HttpServerResponse.empty({ status: 404, headers: { "cache-control": "no-store" } }))
    })
)
