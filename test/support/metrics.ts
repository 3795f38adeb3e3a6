/** What the metrics say. */
import { Effect, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"

/** What a line of their text says; null where it is not there. */
export const valueIn = (text: string, series: string): number | null => {
  const line = text.split("\n").find((each) => each.startsWith(`${series} `))
  return line === undefined ? null : Number(line.slice(series.length + 1))
}

/** What a series says now; 0 where it was never counted. */
export const metric = (series: string) => Effect.map(PrometheusMetrics.format(), (text) => valueIn(text, series) ?? 0)

/** Runs the effect with metrics of its own: those of the process hold what other tests have counted. */
export const withOwnMetrics = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, Metric.MetricRegistry, new Map())
