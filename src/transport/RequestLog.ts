/** The record of every request, over any transport: counts, one line of the log, and a span of the trace. */
import { Clock, Context, Effect, Exit, LogLevel, Option, References } from "effect"
import { HttpServerRequest, HttpTraceContext } from "effect/http"
import type { CredentialKind, Via } from "../domain/people/Access.ts"
import { addressOf } from "./ClientAddress.ts"
import * as Metrics from "./RequestMetrics.ts"
import { RequestId, RequestLines, TrustedProxies } from "./TransportSettings.ts"

/** An endpoint by its name: one for each operation and transport, and one for each other address. */
export class Endpoint {
  readonly series: Metrics.Series
  /** Null where the address is no operation's. */
  readonly operation: string | null
  /** The path as it is declared, never as it was sent. */
  readonly route: string
  readonly kind: Metrics.Transport
  /** True if its lines have level Debug: supervisors call it every few seconds. */
  readonly quiet: boolean

  constructor(kind: Metrics.Transport, route: string, operation: string | null = null) {
    this.kind = kind
    this.route = route
    this.operation = operation
    this.quiet = route === "/healthz" || route === "/readyz"
    this.series = new Metrics.Series(operation ?? route, kind)
  }
}

/** For a request to an unknown address. */
const other = new Endpoint("http", "other")

/** The caller, as far as it is known. */
export interface RequestCaller {
  readonly organizationId: string
  readonly credential: { readonly kind: CredentialKind; readonly id: string }
  readonly via: Via
}

/** One request, as far as it is known. */
export class RequestRecord {
  readonly method: string
  readonly requestId: string
  endpoint = other
  /** Undefined until it is known. */
  ip: string | null | undefined
  caller: RequestCaller | undefined
  /** The code of the failure that it is answered with. */
  code: string | undefined

  constructor(method: string, requestId: string) {
    this.method = method
    this.requestId = requestId
  }
}

/** The record of the current request, where requests are recorded. */
const Current = Context.Reference<RequestRecord | undefined>("org-security-console/transport/RequestLog/Current", {
  defaultValue: () => undefined
})

/** The record of the context's request, where requests are recorded. */
export const current = (context: Context.Context<never>): RequestRecord | undefined => Context.get(context, Current)

/** Records the failure's code. */
export const noteFailure = (code: string): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const record = Context.get(fiber.context, Current)
    if (record !== undefined) record.code = code
    return Effect.void
  })

/** Records the client's address and the caller. */
export const noteClient = (ip: string | null, caller?: RequestCaller): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const record = Context.get(fiber.context, Current)
    if (record !== undefined) {
      record.ip = ip
      record.caller = caller
    }
    return Effect.void
  })

/** The client's address as the context's request has it; null where none came over HTTP. */
const addressIn = (context: Context.Context<never>): string | null =>
  Option.match(Context.getOption(context, HttpServerRequest.HttpServerRequest), {
    onNone: () => null,
    onSome: (request) => addressOf(request, Context.get(context, TrustedProxies))
  })

/** The fields of the log line and of the span. */
const fields = ({ caller, code, ip, method, requestId, endpoint }: RequestRecord, status: number | null) => ({
  request_id: requestId,
  method,
  route: endpoint.route,
  operation: endpoint.operation,
  via: caller?.via ?? endpoint.kind,
  status,
  code: code ?? null,
  organization_id: caller?.organizationId ?? null,
  credential_kind: caller?.credential.kind ?? null,
  credential_id: caller?.credential.id ?? null,
  client_ip: ip ?? null
})

const nanosPerMicro = 1000n

/** The code of a request that its client gave up: no answer was sent. */
export const cancelled = "cancelled"

/** Counts the request, and writes its line if the log has this level. */
const report = (record: RequestRecord, status: number | null, started: bigint): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    if (status === null) record.code = cancelled
    const given = record.code === cancelled ? null : status
    const { context } = fiber
    const elapsed = Context.get(context, Clock.Clock).monotonicTimeNanosUnsafe() - started
    const millis = Number(elapsed / nanosPerMicro) / 1000
    const { caller, code, endpoint } = record
    endpoint.series.count(code ?? String(status), millis / 1000, context)
    if (code !== undefined && given !== null) Metrics.countFailure(code, caller !== undefined, context)
    const level = endpoint.quiet ? "Debug" : "Info"
    if (!Context.get(context, RequestLines) || LogLevel.isGreaterThan(fiber.cache.minimumLogLevel, level)) {
      return Effect.void
    }
    record.ip ??= addressIn(context)
    return Effect.annotateLogs(Effect.logWithLevel(level)("Request answered"), {
      ...fields(record, given),
      duration_ms: millis
    })
  })

/** The fields of the record for the span, by the names of the OpenTelemetry conventions. */
const attributes = (record: RequestRecord, status: number | null) => {
  const logged = fields(record, status)
  return {
    "http.request.method": logged.method,
    "http.route": logged.route,
    "http.response.status_code": logged.status,
    "client.address": logged.client_ip,
    "error.type": logged.code,
    "console.request_id": logged.request_id,
    "console.operation": logged.operation,
    "console.via": logged.via,
    "console.organization_id": logged.organization_id,
    "console.credential_kind": logged.credential_kind,
    "console.credential_id": logged.credential_id
  }
}

/** A span with the request's fields; a failure of the service fails it. */
const traced = <A, E, R>(
  record: RequestRecord,
  statusOf: (answered: A) => number,
  effect: Effect.Effect<A, E, R>
) =>
  Effect.gen(function*() {
    const { kind, operation, route } = record.endpoint
    const current = yield* Effect.option(Effect.currentParentSpan)
    const request = yield* Effect.serviceOption(HttpServerRequest.HttpServerRequest)
    const remote = Option.flatMap(request, ({ headers }) => HttpTraceContext.w3c(headers))
    const clock = yield* Clock.Clock
    return yield* Effect.useSpan(
      operation ?? `${record.method} ${route}`,
      {
        kind: kind === "mcp" && operation !== null ? "internal" : "server",
        ...(Option.isNone(current) && Option.isSome(remote) ? { parent: remote.value } : {})
      },
      (span) =>
        effect.pipe(
          Effect.withParentSpan(span),
          Effect.onExit((exit) =>
            Effect.sync(() => {
              const status = Exit.isSuccess(exit) && record.code !== cancelled ? statusOf(exit.value) : null
              for (const [name, value] of Object.entries(attributes(record, status))) {
                if (value !== null) span.attribute(name, value)
              }
              if (status !== null && status >= 500) {
                span.end(clock.currentTimeNanosUnsafe(), Exit.fail(record.code ?? status))
              }
            })
          )
        )
    )
  })

/**
 * Records the request from here to its answer, in a context that has the record; a request that its client gave up
 * counts as cancelled. With a tracer it gets a span.
 */
export const recorded = <A, E, R>(
  record: RequestRecord,
  statusOf: (answered: A) => number,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const started = Context.get(fiber.context, Clock.Clock).monotonicTimeNanosUnsafe()
    Metrics.inFlight.modifyUnsafe(1, fiber.context)
    const { endpoint } = record
    const untraced = fiber.cache.tracer === undefined || endpoint.quiet || endpoint === other
    return Effect.onExit(untraced ? effect : traced(record, statusOf, effect), (exit) => {
      Metrics.inFlight.modifyUnsafe(-1, fiber.context)
      return report(record, Exit.isSuccess(exit) ? statusOf(exit.value) : null, started)
    })
  })

/** The context of a request that is recorded. */
export const inContext = <R>(context: Context.Context<R>, record: RequestRecord): Context.Context<R> =>
  Context.add(
    Context.add(Context.add(context, Current, record), RequestId, record.requestId),
    References.CurrentLogAnnotations,
    { ...Context.get(context, References.CurrentLogAnnotations), request_id: record.requestId }
  )

/** Records one of several calls within a request as a request of its own. */
export const recordedWithin = <A, E, R>(
  endpoint: Endpoint,
  statusOf: (code: string | undefined) => number,
  effect: Effect.Effect<A, E, R>
) =>
  Effect.withFiber((fiber): Effect.Effect<A, E, R> => {
    const whole = Context.get(fiber.context, Current)
    if (whole === undefined) return effect
    const record = new RequestRecord(whole.method, whole.requestId)
    record.endpoint = endpoint
    record.ip = whole.ip
    record.caller = whole.caller
    return Effect.provideService(recorded(record, () => statusOf(record.code), effect), Current, record)
  })
