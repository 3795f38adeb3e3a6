/** What is recorded of every request, over any transport: counts, one line of the log, and a span of the trace. */
import { Clock, Context, Effect, Exit, LogLevel, Option, References } from "effect"
import { HttpServerRequest, HttpTraceContext } from "effect/http"
import type { CredentialKind, Via } from "../domain/Access.ts"
import { addressOf } from "./ClientAddress.ts"
import * as Metrics from "./Metrics.ts"
import { RequestId, RequestLines, TrustedProxies } from "./Settings.ts"

/** An endpoint by its name: one for each operation and transport, and one for each other address. */
export class Endpoint {
  readonly series: Metrics.Series
  /** Null where no operation is asked for. */
  readonly operation: string | null
  /** The address as it is declared, never as it was sent. */
  readonly route: string
  readonly kind: Metrics.Kind
  /** Whether its lines are for finding faults alone: supervisors ask every few seconds. */
  readonly quiet: boolean

  constructor(kind: Metrics.Kind, route: string, operation: string | null = null) {
    this.kind = kind
    this.route = route
    this.operation = operation
    this.quiet = route === "/healthz" || route === "/readyz"
    this.series = new Metrics.Series(operation ?? route, kind)
  }
}

/** Where no address of the service was asked for. */
const other = new Endpoint("http", "other")

/** Who asks, as far as it is known. */
export interface Who {
  readonly organizationId: string
  readonly credential: { readonly kind: CredentialKind; readonly id: string }
  readonly via: Via
}

/** One request, as far as it is known. */
export class Observation {
  readonly method: string
  readonly requestId: string
  endpoint = other
  /** Undefined until it is known. */
  ip: string | null | undefined
  caller: Who | undefined
  /** The code of the failure that it is answered with. */
  code: string | undefined

  constructor(method: string, requestId: string) {
    this.method = method
    this.requestId = requestId
  }
}

/** The request that is being answered, where requests are observed. */
const Current = Context.Reference<Observation | undefined>("org-security-console/edge/Observation/Current", {
  defaultValue: () => undefined
})

/** The request that is being answered in the context, where requests are observed. */
export const current = (context: Context.Context<never>): Observation | undefined => Context.get(context, Current)

/** Says with what code the request fails. */
export const failing = (code: string): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const observation = Context.get(fiber.context, Current)
    if (observation !== undefined) observation.code = code
    return Effect.void
  })

/** Says who asks, and from where. */
export const known = (ip: string | null, caller?: Who): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const observation = Context.get(fiber.context, Current)
    if (observation !== undefined) {
      observation.ip = ip
      observation.caller = caller
    }
    return Effect.void
  })

/** The client's address as the context's request has it; null where none came over HTTP. */
const addressIn = (context: Context.Context<never>): string | null =>
  Option.match(Context.getOption(context, HttpServerRequest.HttpServerRequest), {
    onNone: () => null,
    onSome: (request) => addressOf(request, Context.get(context, TrustedProxies))
  })

/** The fields of the line, and of the span. */
const fields = ({ caller, code, ip, method, requestId, endpoint }: Observation, status: number | null) => ({
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

/** The code of a request that its client gave up: nobody was answered. */
export const cancelled = "cancelled"

/** Counts what has been answered, and writes its line where the log has lines of this level. */
const report = (observation: Observation, status: number | null, started: bigint): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    if (status === null) observation.code = cancelled
    const given = observation.code === cancelled ? null : status
    const { context } = fiber
    const elapsed = Context.get(context, Clock.Clock).monotonicTimeNanosUnsafe() - started
    const millis = Number(elapsed / nanosPerMicro) / 1000
    const { caller, code, endpoint } = observation
    endpoint.series.count(code ?? String(status), millis / 1000, context)
    if (code !== undefined && given !== null) Metrics.countFailure(code, caller !== undefined, context)
    const level = endpoint.quiet ? "Debug" : "Info"
    if (!Context.get(context, RequestLines) || LogLevel.isGreaterThan(fiber.cache.minimumLogLevel, level)) {
      return Effect.void
    }
    observation.ip ??= addressIn(context)
    return Effect.annotateLogs(Effect.logWithLevel(level)("Request answered"), {
      ...fields(observation, given),
      duration_ms: millis
    })
  })

/** The same for the span, by the names that tracing has for them. */
const attributes = (observation: Observation, status: number | null) => {
  const logged = fields(observation, status)
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
  observation: Observation,
  statusOf: (answered: A) => number,
  effect: Effect.Effect<A, E, R>
) =>
  Effect.gen(function*() {
    const { kind, operation, route } = observation.endpoint
    const current = yield* Effect.option(Effect.currentParentSpan)
    const request = yield* Effect.serviceOption(HttpServerRequest.HttpServerRequest)
    const remote = Option.flatMap(request, ({ headers }) => HttpTraceContext.w3c(headers))
    const clock = yield* Clock.Clock
    return yield* Effect.useSpan(
      operation ?? `${observation.method} ${route}`,
      {
        kind: kind === "mcp" && operation !== null ? "internal" : "server",
        ...(Option.isNone(current) && Option.isSome(remote) ? { parent: remote.value } : {})
      },
      (span) =>
        effect.pipe(
          Effect.withParentSpan(span),
          Effect.onExit((exit) =>
            Effect.sync(() => {
              const status = Exit.isSuccess(exit) && observation.code !== cancelled ? statusOf(exit.value) : null
              for (const [name, value] of Object.entries(attributes(observation, status))) {
                if (value !== null) span.attribute(name, value)
              }
              if (status !== null && status >= 500) {
                span.end(clock.currentTimeNanosUnsafe(), Exit.fail(observation.code ?? status))
              }
            })
          )
        )
    )
  })

/**
 * Observes the request from here to its answer, in a context that has it; one that its client gave up counts as
 * cancelled. Where a tracer is, it gets a span.
 */
export const watch = <A, E, R>(
  observation: Observation,
  statusOf: (answered: A) => number,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const started = Context.get(fiber.context, Clock.Clock).monotonicTimeNanosUnsafe()
    Metrics.inFlight.modifyUnsafe(1, fiber.context)
    const { endpoint } = observation
    const unseen = fiber.cache.tracer === undefined || endpoint.quiet || endpoint === other
    return Effect.onExit(unseen ? effect : traced(observation, statusOf, effect), (exit) => {
      Metrics.inFlight.modifyUnsafe(-1, fiber.context)
      return report(observation, Exit.isSuccess(exit) ? statusOf(exit.value) : null, started)
    })
  })

/** The context of a request that is observed. */
export const inContext = <R>(context: Context.Context<R>, observation: Observation): Context.Context<R> =>
  Context.add(
    Context.add(Context.add(context, Current, observation), RequestId, observation.requestId),
    References.CurrentLogAnnotations,
    { ...Context.get(context, References.CurrentLogAnnotations), request_id: observation.requestId }
  )

/** Observes one of several things that a request asks for, as a request of its own. */
export const within = <A, E, R>(
  endpoint: Endpoint,
  statusOf: (code: string | undefined) => number,
  effect: Effect.Effect<A, E, R>
) =>
  Effect.withFiber((fiber): Effect.Effect<A, E, R> => {
    const whole = Context.get(fiber.context, Current)
    if (whole === undefined) return effect
    const observation = new Observation(whole.method, whole.requestId)
    observation.endpoint = endpoint
    observation.ip = whole.ip
    observation.caller = whole.caller
    return Effect.provideService(watch(observation, () => statusOf(observation.code), effect), Current, observation)
  })
