/** Metrics that are read on request, instead of at every change. */
import { Effect, Metric } from "effect"

const ignored = () => {}

/** Shows the state that `get` reads as the metric's, for as long as the scope is open. */
export const showState = <State>(metric: Metric.Metric<number, State>, get: () => State) =>
  Effect.flatMap(Effect.context<never>(), (context) =>
    Effect.acquireRelease(
      Effect.sync(() => Metric.registerUnsafe(metric, context, { get, update: ignored, modify: ignored })),
      (registration) => Effect.sync(registration.remove)
    ))

/** Shows a number as a gauge of that name, for as long as the scope is open. */
export const show = (
  name: string,
  description: string,
  read: () => number,
  attributes: Record<string, string> = {}
) => showState(Metric.gauge(name, { description, attributes }), () => ({ value: read() }))
