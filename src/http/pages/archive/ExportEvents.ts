/** The progress of an export's downloads, as events: counts and words about them, and nothing of what is in the parts. */
import { Clock, Duration, Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { ExportId } from "../../../domain/archive/ArchiveExport.ts"
import { Caller } from "../../../domain/people/Access.ts"
import { getArchiveExport } from "../../../operations/archive/get_archive_export.ts"
import { RateLimiter } from "../../../ports/RateLimits.ts"
import { eventTurnOfRequest } from "../../../transport/EventTurns.ts"
import * as Events from "../kit/EventStream.ts"
import { idOf, type PageRequest } from "../kit/PageRequest.ts"
import * as Refresh from "../kit/Refresh.ts"
import * as Serving from "../kit/Serving.ts"
import * as Tabs from "../organization/OrganizationTabs.ts"
import * as Downloads from "./DownloadWords.ts"

const path = `${Tabs.archiveExportsPath}/:export_id/events` as const

/** A stream ends once nothing has been under way for so long. */
const idle = Duration.toMillis("30 seconds")

/** A part as its page shows it. */
const stateOf = (part: Downloads.Part) => {
  const line = Downloads.lineOf(part)
  return {
    number: part.number,
    running: line?.isRunning ?? false,
    text: line?.text ?? "",
    reason: line?.reason ?? null,
    done: line?.done ?? 0,
    total: line?.total ?? 0,
    sent: Downloads.sentOf(part),
    sha256: part.sha256,
    at: part.downloaded_at?.getTime() ?? 0
  }
}

/** The admin of the session; nobody asks for the events, so that they do not prolong it. */
const signedIn = (visit: PageRequest) => Serving.signedIn({ ...visit, query: `${Refresh.unattended}=1` })

/** The export as the session may see it now. */
const find = (visit: PageRequest, id: ExportId) =>
  Effect.flatMap(
    signedIn(visit),
    (admin) => Effect.provideService(getArchiveExport.call({ export_id: id }), Caller, Serving.caller(visit, admin))
  )

/** Finds the parts that have changed since the last look at the export. */
const makeNews = (startedAt: number) => {
  const known = new Map<number, string>()
  let runningAt = startedAt
  return (parts: ReadonlyArray<Downloads.Part>, now: number): Events.Look => {
    const states = parts.filter((part) => part.latest_download !== null).map(stateOf)
    if (states.some(({ running }) => running)) runningAt = now
    const changed = states.filter((state) => {
      const text = JSON.stringify(state)
      if (known.get(state.number) === text) return false
      known.set(state.number, text)
      return true
    })
    const isLast = now - runningAt >= idle
    return {
      events: [
        ...(changed.length === 0 ? [] : [{ name: "parts", data: JSON.stringify(changed) }]),
        ...(isLast ? [{ name: "end", data: "" }] : [])
      ],
      isLast
    }
  }
}

const nothing: Events.Look = { events: [], isLast: false }

const get = (visit: PageRequest) =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (!Serving.isOwn(request)) return yield* Serving.notCurrent()
    const id = ExportId.make(yield* idOf(visit, "export_id"))
    const { organizationId, sessionId } = yield* signedIn(visit)
    // However often the stream looks, it is one request of the session.
    const counted = yield* Effect.cached((yield* RateLimiter).consume(sessionId))
    const news = makeNews(yield* Clock.currentTimeMillis)
    const seen = find(visit, id).pipe(
      Effect.provideService(RateLimiter, { consume: () => counted }),
      Effect.flatMap(({ parts }) => Effect.map(Clock.currentTimeMillis, (now) => news(parts, now)))
    )
    const first = yield* seen
    const look = seen.pipe(
      Effect.catchTag("service_unavailable", () => Effect.succeed(nothing)),
      Effect.catch(({ message }) => Effect.succeed({ events: [{ name: "end", data: message }], isLast: true }))
    )
    return yield* Events.respond(first, look, yield* eventTurnOfRequest(sessionId, organizationId))
  })

export const routes = [Serving.route("GET", path, get, Serving.asJson)] as const
