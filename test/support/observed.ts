/** What the service tells of itself while an effect runs: its log, and its metrics alone. */
import { Effect, Logger, type LogLevel, References } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { RequestLines } from "../../src/transport/TransportSettings.ts"
import { withOwnMetrics } from "./metrics.ts"

export interface Line {
  readonly level: LogLevel.LogLevel
  readonly message: unknown
  readonly fields: Readonly<Record<string, unknown>>
}

/** Runs the effect, and answers what it logged and the metrics in the text format. */
export const observed = <A, E, R>(effect: Effect.Effect<A, E, R>, level: LogLevel.LogLevel = "Info") =>
  Effect.gen(function*() {
    const lines: Array<Line> = []
    const logger = Logger.make(({ fiber, logLevel, message }) => {
      const { ...fields } = fiber.getRef(References.CurrentLogAnnotations)
      lines.push({ level: logLevel, message: Array.isArray(message) ? message[0] : message, fields })
    })
    const answer = yield* effect.pipe(Effect.provide(Logger.layer([logger])))
    const metrics = (yield* PrometheusMetrics.format()).split("\n")
    return { answer, lines, answered: lines.filter(({ message }) => message === "Request answered"), metrics }
  }).pipe(
    withOwnMetrics,
    Effect.provideService(RequestLines, true),
    Effect.provideService(References.MinimumLogLevel, level)
  )
