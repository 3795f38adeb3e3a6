/** Traces and metrics for a collector, by the OpenTelemetry protocol over HTTP, where one is named. */
import { Clock, Effect, Layer, Option, Redacted, References, Tracer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError, HttpMiddleware } from "effect/http"
import { OtlpMetrics, OtlpSerialization, OtlpTracer } from "effect/observability"

export interface TelemetrySettings {
  readonly otlpUrl: Option.Option<string>
  readonly traceRatio: number
}

/** The time that a collector may take for an answer, and the time that nothing is traced for one that failed. */
const timeout = "3 seconds"
const pause = 10_000

/** The number of exports that may be under way; beyond that nothing is traced until they are done. */
const mostExports = 4

/** The known state of the collector: spans are recorded only while it takes them, so that they do not pile up. */
class Collector {
  #exports = 0
  #pausedUntil = 0
  #failing = false

  takes(now: number): boolean {
    return this.#exports < mostExports && now >= this.#pausedUntil
  }

  /** The client, bounded in time, that keeps count of how its requests end. */
  watch(client: HttpClient.HttpClient): HttpClient.HttpClient {
    return HttpClient.transform(client, (response, request) =>
      Effect.suspend(() => {
        this.#exports += 1
        return response.pipe(
          Effect.tap(({ arrayBuffer }) => arrayBuffer),
          Effect.timeoutOrElse({
            duration: timeout,
            orElse: () => Effect.fail(this.#late(request))
          }),
          Effect.tap(({ status }) => status < 400 ? this.#took : this.#failed(`status ${status}`)),
          Effect.tapError(({ reason }) => this.#failed(reason._tag)),
          Effect.ensuring(Effect.sync(() => this.#exports -= 1))
        )
      }))
  }

  #late(request: HttpClientError.TransportError["request"]) {
    const reason = new HttpClientError.TransportError({ request, description: `No answer within ${timeout}` })
    return new HttpClientError.HttpClientError({ reason })
  }

  get #took(): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (!this.#failing) return Effect.void
      this.#failing = false
      return Effect.logInfo("The collector takes telemetry again")
    })
  }

  #failed(reason: string): Effect.Effect<void> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      this.#pausedUntil = now + pause
      if (this.#failing) return Effect.void
      this.#failing = true
      return Effect.logWarning(`The collector does not take telemetry: ${reason}`)
    })
  }
}

/**
 * The exporter's tracer for requests alone, and for as many of them as the ratio says: what the service does by itself
 * leaves no spans. A client that names a trace decides itself whether the request is part of it.
 */
const requestsAlone = (exporter: Tracer.Tracer, collector: Collector, ratio: number, clock: Clock.Clock) =>
  Tracer.make({
    ...exporter,
    span: (options) => {
      const chosen = Option.isSome(options.parent) || (options.kind === "server" && Math.random() < ratio)
      return exporter.span({
        ...options,
        sampled: options.sampled && chosen && collector.takes(clock.currentTimeMillisUnsafe())
      })
    }
  })

/** Names and values, as `name=value,name2=value2`. */
const parseHeaders = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(",").filter((pair) => pair.includes("=")).map((pair) => {
      const at = pair.indexOf("=")
      return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())]
    })
  )

const exporting = (url: string, headers: Option.Option<Redacted.Redacted>, ratio: number, version: string) =>
  Layer.unwrap(Effect.gen(function*() {
    const collector = new Collector()
    const clock = yield* Clock.Clock
    const client = Layer.effect(
      HttpClient.HttpClient,
      Effect.map(HttpClient.HttpClient, (client) => collector.watch(client))
    ).pipe(Layer.provide(FetchHttpClient.layer))
    const options = {
      resource: { serviceName: "org-security-console", serviceVersion: version },
      headers: Option.match(headers, { onNone: () => ({}), onSome: (text) => parseHeaders(Redacted.value(text)) })
    }
    const tracer = Layer.effect(
      Tracer.Tracer,
      Effect.map(
        OtlpTracer.make({ ...options, url: `${url}/v1/traces` }),
        (exporter) => requestsAlone(exporter, collector, ratio, clock)
      )
    )
    const metrics = OtlpMetrics.layer({ ...options, url: `${url}/v1/metrics`, exportInterval: "30 seconds" })
    // The service names its own spans: the server's hold the address as it was sent.
    const named = Layer.succeed(HttpMiddleware.TracerDisabledWhen, () => true)
    return Layer.merge(tracer, named).pipe(
      Layer.provide(metrics),
      Layer.provide([OtlpSerialization.layerJson, client])
    )
  }))

/** Exports where the settings name a collector; elsewhere not even the spans are made. */
export const layer = (
  { otlpUrl, traceRatio }: TelemetrySettings,
  headers: Option.Option<Redacted.Redacted>,
  version: string
): Layer.Layer<never> =>
  Option.match(otlpUrl, {
    onNone: (): Layer.Layer<never> => Layer.succeed(References.TracerEnabled, false),
    onSome: (url) => exporting(url.replace(/\/+$/, ""), headers, traceRatio, version)
  })
