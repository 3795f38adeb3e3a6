/** The MCP server at `/mcp`: Streamable HTTP in every revision, without sessions, so that any replica answers. */
import { type Context, Effect, Result } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { resourceMetadata } from "../domain/oauth/OAuth.ts"
import { Caller } from "../domain/people/Access.ts"
import type * as Operation from "../kernel/Operation.ts"
import type { AdmissionFailure } from "../kernel/Refusals.ts"
import type { Operations } from "../operations/index.ts"
import type { Entrance } from "../ports/credentials/Authentication.ts"
import type { Credentials } from "../ports/credentials/Credentials.ts"
import { type FailedAttempts, RateLimiter, type RateState } from "../ports/RateLimits.ts"
import { answer, type ErrorAnswer, rateHeaders, recover } from "../transport/Answer.ts"
import { enter, siteOf } from "../transport/Arrival.ts"
import * as Body from "../transport/Body.ts"
import * as Compression from "../transport/Compression.ts"
import type { Site, Sites } from "../transport/Site.ts"
import { RequestId } from "../transport/TransportSettings.ts"
import * as Arguments from "./Arguments.ts"
import * as Asking from "./Asking.ts"
import * as DirectCalls from "./DirectCalls.ts"
import { exchange, type ToolView } from "./Exchange.ts"
import * as Messages from "./Messages.ts"
import * as Origins from "./Origins.ts"
import * as PersonalInput from "./PersonalInput.ts"
import * as Questions from "./Questions.ts"
import { Admissions, call } from "./ToolCalls.ts"
import * as Tools from "./Tools.ts"
import * as ToolSelection from "./ToolSelection.ts"

export interface Options {
  /** Lists every tool, whatever the credential may use; off by default. */
  readonly completeList?: boolean
  /** The origins whose pages may call; every one by default. */
  readonly allowedOrigins?: ReadonlyArray<string>
  /** True if values that a person gives are taken as arguments too, which a model then sees; false by default. */
  readonly personalArguments?: boolean
  /** True if a browser finds the console at the site's address; it does by default. */
  readonly console?: boolean
}

export { path } from "./ToolSelection.ts"

/** The services that the server needs. */
export type Services = Operation.Services<Operations> | Credentials | Entrance | FailedAttempts | Sites

const isFinal = ({ _tag }: AdmissionFailure): boolean =>
  _tag === "rate_limited" || _tag === "insufficient_scope" || _tag === "service_unavailable"

/** The caller of a message that is not the first of its request. */
const later = (caller: Caller["Service"]): Caller["Service"] => ({ ...caller, arrival: undefined })

/** The count of a request that holds no message with an id: one, whatever it is. */
const uncalled: Messages.PendingMessage = { id: null, tool: undefined, input: undefined, meta: undefined }

/**
 * Counts every message that waits for an answer, or the request where it has none, and admits the calls of operations.
 *
 * Too many requests, a missing scope and a database that is away are the whole request's failure; what else forbids a
 * call is that call's result.
 */
const admit = Effect.fnUntraced(function*(
  messages: ReadonlyArray<Messages.PendingMessage>,
  selection: ToolSelection.Selection
) {
  const caller = yield* Caller
  const limiter = yield* RateLimiter
  const tools = yield* Tools.served
  const admissions = new Admissions()
  let rate: RateState | undefined
  for (const [index, message] of (messages.length === 0 ? [uncalled] : messages).entries()) {
    // The facts that became known as the request came in are those of the first of its messages.
    const asking = index === 0 ? caller : later(caller)
    const operation = tools.find(message.tool)
    if (operation === undefined || ToolSelection.refusal(selection, operation) !== undefined) {
      rate = yield* asking.arrival?.admitted ?? limiter.consume(caller.credential.id)
      continue
    }
    const admission = yield* Effect.result(
      Effect.provideService(operation.admit, Caller, Arguments.carrying(asking, message.meta, {}))
    )
    if (Result.isSuccess(admission)) rate = admission.success
    else if (isFinal(admission.failure)) return yield* admission.failure
    admissions.keep(message, admission)
  }
  return { admissions, rate }
})

const toResponse = ({ body, headers, status }: ErrorAnswer) =>
  HttpServerResponse.setHeaders(HttpServerResponse.jsonUnsafe(body, { status }), headers)

/** A refusal; one for want of a token says where to get one. */
const refuse = (site: Site | undefined, failure: ErrorAnswer) => {
  const response = toResponse(failure)
  return failure.status === 401 && site !== undefined
    ? HttpServerResponse.setHeader(
      response,
      "www-authenticate",
      `Bearer resource_metadata="${resourceMetadata(site.baseUrl, "mcp")}"`
    )
    : response
}

const malformed = (message: string) =>
  HttpServerResponse.jsonUnsafe(Messages.refusal(Messages.parseError, message), { status: 400 })

/** Answers a request that is one call of a tool, where nothing about it is for the SDK; undefined for any other. */
const direct = (
  request: HttpServerRequest.HttpServerRequest,
  body: unknown,
  tools: Tools.Tools,
  caller: Caller["Service"],
  admissions: Admissions,
  { console, personalArguments, selection }: ToolView
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, Operation.Services<Operations>> | undefined => {
  const found = DirectCalls.read(request.headers, body)
  const operation = tools.find(found?.name)
  if (found === undefined || operation === undefined || ToolSelection.refusal(selection, operation) !== undefined) {
    return undefined
  }
  const { id, input, meta, name } = found
  const admitted = admissions.take(id, name)
  const { unasked } = PersonalInput.given(operation, admitted?.input ?? input, undefined, personalArguments)
  // @effect-diagnostics-next-line anyUnknownInErrorContext:off -- an operation's services are any here
  return call(operation, admitted?.input ?? input, admitted?.admission, console, unasked).pipe(
    Effect.provideService(Caller, Arguments.carrying(caller, meta, request.headers)),
    Effect.map((called) =>
      HttpServerResponse.text(DirectCalls.message(id, called), { contentType: "application/json" })
    )
  )
}

/** Answers a caller. */
const answerCaller = Effect.fnUntraced(function*(
  request: HttpServerRequest.HttpServerRequest,
  caller: Caller["Service"],
  site: Site,
  options: Options,
  questions: Questions.Questions
) {
  const selection = yield* Effect.tapError(
    ToolSelection.read(request.url, request.headers["x-mcp-readonly"]),
    () => admit([], ToolSelection.everything)
  )
  const shown = {
    complete: options.completeList ?? false,
    personalArguments: options.personalArguments ?? false,
    selection,
    console: options.console === false ? undefined : site
  }
  if (request.method !== "POST") {
    const { admissions, rate } = yield* admit([], selection)
    const response = yield* exchange(request, undefined, admissions, shown)
    return rate === undefined ? response : HttpServerResponse.setHeaders(response, rateHeaders(rate))
  }
  const body = yield* Effect.result(Effect.flatMap(Body.read(request), Messages.parse))
  if (Result.isFailure(body)) {
    const { rate } = yield* admit([], selection)
    const refused = body.failure._tag === "Malformed"
      ? malformed(body.failure.message)
      : toResponse(answer(body.failure))
    return rate === undefined ? refused : HttpServerResponse.setHeaders(refused, rateHeaders(rate))
  }
  const messages = Messages.askingIn(body.success)
  const { admissions, rate } = yield* admit(messages, selection)
  const tools = yield* Tools.served
  const exchanging = questions.take(caller.credential.id, body.success)
    ? Effect.succeed(HttpServerResponse.empty({ status: 202 }))
    : Asking.answering(request, body.success, tools, caller, admissions, questions, shown) ??
      direct(request, body.success, tools, caller, admissions, shown) ??
      exchange(request, body.success, admissions, shown)
  const exchanged = yield* messages.length > 1
    ? Effect.provideService(exchanging, Caller, later(caller))
    : exchanging
  // Lists hold no secret together with what a caller chooses; results may.
  const response = Messages.listsAlone(body.success)
    ? yield* Compression.compress(request, exchanged)
    : exchanged
  const session = Questions.opened(body.success, yield* RequestId)
  return HttpServerResponse.setHeaders(response, {
    ...(rate === undefined ? {} : rateHeaders(rate)),
    ...(session === undefined ? {} : { [Questions.sessionHeader]: session })
  })
})

/** The facts of a request that are known before it fails. */
interface RequestFacts {
  site: Site | undefined
}

const answerRequest = Effect.fnUntraced(function*(
  request: HttpServerRequest.HttpServerRequest,
  options: Options,
  questions: Questions.Questions,
  known: RequestFacts
) {
  const site = yield* siteOf(request)
  known.site = site
  const caller = yield* enter(request, site, "mcp")
  return yield* Effect.provideService(answerCaller(request, caller, site, options, questions), Caller, caller)
})

const handle = (
  request: HttpServerRequest.HttpServerRequest,
  options: Options,
  questions: Questions.Questions
) => {
  const known: RequestFacts = { site: undefined }
  return answerRequest(request, options, questions, known).pipe(
    recover((failure) => Effect.succeed(refuse(known.site, failure))),
    Effect.map(HttpServerResponse.setHeader("cache-control", "no-store"))
  )
}

/** The server where a request has its services already, as below `App` of the interface. */
export const within = (options: Options = {}) => {
  const { allowedOrigins } = options
  const asked = Origins.preflight(allowedOrigins)
  const questions = new Questions.Questions()
  return Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (request.method === "OPTIONS") return yield* asked
    const origin = request.headers["origin"]
    const response = origin === undefined || allowedOrigins === undefined || allowedOrigins.includes(origin)
      ? yield* handle(request, options, questions)
      : HttpServerResponse.jsonUnsafe(Messages.refusal(-32_000, "This origin may not call."), { status: 403 })
    return Origins.opened(response, allowedOrigins, origin)
  })
}

/**
 * The server as one effect from a request to a response, to be mounted at `path` beside the interface or served alone.
 * A call that its client abandons is interrupted, with everything that it does; a write has happened whole or not at
 * all.
 */
export const make = (options: Options = {}) =>
  Effect.contextWith((context: Context.Context<Services>) =>
    Effect.succeed(Effect.provideContext(within(options), context))
  )
