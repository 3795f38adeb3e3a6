/**
 * Events that a page is sent while it is open (server-sent events). A stream asks again and again what there is, by the
 * session of the request each time, so that what ends the session or its reach ends the stream; it lives for minutes, and
 * the browser then opens another one.
 */
import { Clock, Duration, Effect, Option, Stream } from "effect"
import { Sse } from "effect/encoding"
import { HttpServerResponse } from "effect/http"
import { eventStreamLife } from "../../../domain/Limits.ts"
import { endless } from "../../../transport/EventTurns.ts"
import type { Turn } from "../../../transport/Turns.ts"

const period = Duration.seconds(1)

/** A line that means nothing is sent after so long without an event: what is on the way keeps the connection then. */
const silence = Duration.toMillis("10 seconds")

/** Milliseconds after which a browser opens another stream. */
const retry = "retry: 2000\n\n"

/** An event by its name; an object of JSON, or words. */
export interface PageEvent {
  readonly name: string
  readonly data: string
}

/** The events since the last look, and true where no more follow. */
export interface Look {
  readonly events: ReadonlyArray<PageEvent>
  readonly isLast: boolean
}

const written = ({ data, name }: PageEvent): string =>
  Sse.encoder.write({ _tag: "Event", event: name, id: undefined, data })

interface State {
  readonly first: Look | null
  readonly until: number
  readonly sentAt: number
}

/** The answer: what was found first, and then what `look` finds every second. */
export const respond = Effect.fnUntraced(function*<R>(first: Look, look: Effect.Effect<Look, never, R>, turn: Turn) {
  const context = yield* Effect.context<R>()
  const start = yield* Clock.currentTimeMillis
  const begun: State = { first, until: start + Duration.toMillis(eventStreamLife), sentAt: start }
  const step = Effect.fnUntraced(function*({ first: found, sentAt, until }: State) {
    const { events, isLast } = found ?? (yield* Effect.delay(look, period))
    const now = yield* Clock.currentTimeMillis
    const isSilent = events.length === 0 && now - sentAt >= silence
    const texts = [...(found === null ? [] : [retry]), ...events.map(written), ...(isSilent ? [":\n\n"] : [])]
    const next: State = { first: null, until, sentAt: texts.length === 0 ? sentAt : now }
    return [texts, isLast || now >= until ? Option.none() : Option.some(next)] as const
  })
  const texts = Stream.paginate(begun, step).pipe(Stream.provideContext(context), Stream.ensuring(turn.release))
  return HttpServerResponse.stream(Stream.encodeText(texts), {
    contentType: "text/event-stream",
    headers: { "cache-control": "no-store", [endless]: "no" }
  })
})
