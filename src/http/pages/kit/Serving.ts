/** Serves pages: the site and the admin who is signed in are known, and whatever goes wrong is a page too. */
import { Clock, Effect, Option } from "effect"
import type { HttpServerResponse } from "effect/http"
import { HttpServerRequest } from "effect/http"
import {
  InvalidToken,
  OrganizationClosed,
  ParameterInvalid,
  PasswordIncorrect,
  ResourceMissing,
  TooManyAttempts
} from "../../../domain/Failure.ts"
import { Caller, Scope } from "../../../domain/people/Access.ts"
import { RateLimiter } from "../../../ports/RateLimits.ts"
import { ConsoleSessions, type SignedIn } from "../../../ports/signin/ConsoleSessions.ts"
import { type ErrorAnswer, recover } from "../../../transport/Answer.ts"
import { hostOf } from "../../../transport/Arrival.ts"
import { admitAnonymous } from "../../../transport/Authenticate.ts"
import { clientOf } from "../../../transport/ClientAddress.ts"
import * as RequestLog from "../../../transport/RequestLog.ts"
import { Sites } from "../../../transport/Site.ts"
import { Readiness, RequestId } from "../../../transport/TransportSettings.ts"
import * as Rest from "../../Rest.ts"
import * as SignInSteps from "../signin/SignInSteps.ts"
import * as Html from "./Html.ts"
import type { AdminPage, PageRequest } from "./PageRequest.ts"
import * as Problem from "./Problem.ts"
import * as Refresh from "./Refresh.ts"

/** The answer to whatever goes wrong. */
type FailureAnswer = (visit: Pick<PageRequest, "base" | "requestId">) => (
  failed: ErrorAnswer
) => Effect.Effect<HttpServerResponse.HttpServerResponse>

/** For the data of a page, which no person reads. */
export const asJson: FailureAnswer = () => (failed) => Effect.succeed(Rest.toResponse(failed))

/** Only a page itself asks for its data: a request that another site makes would be an entry of the journal at least. */
export const isOwn = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  ["same-origin", undefined].includes(headers["sec-fetch-site"])

export const notCurrent = () => new ParameterInvalid({ message: "This page is not current. Load it again." })

const signedOut = () => new InvalidToken({ message: "Your session has ended. Sign in again." })

const asPage: FailureAnswer = ({ base, requestId }) => Problem.failed(base, requestId)

/** Serves what is asked for: the site is known and the service is ready. */
const serve = <E, R>(
  page: (visit: PageRequest) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  failed: FailureAnswer
) =>
(params: PageRequest["params"]) =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const requestId = yield* RequestId
    const host = hostOf(request)
    const site = (yield* Sites).find(host)
    const base = site === undefined ? "" : new URL(site.baseUrl).pathname.replace(/\/$/, "")
    const start = request.url.indexOf("?")
    const ip = yield* clientOf(request)
    yield* RequestLog.noteClient(ip)
    return yield* Effect.gen(function*() {
      if (host === undefined) return yield* new ParameterInvalid({ message: "Host: is required." })
      if (site === undefined) return yield* new ResourceMissing({})
      yield* admitAnonymous(ip)
      yield* yield* Readiness
      return yield* page({
        site,
        base,
        path: (start === -1 ? request.url : request.url.slice(0, start)).slice(base.length),
        params,
        query: start === -1 ? "" : request.url.slice(start + 1),
        cookies: request.headers["cookie"],
        navigates: request.headers["sec-fetch-mode"] === "navigate",
        ip,
        requestId,
        userAgent: request.headers["user-agent"]
      })
    }).pipe(recover(failed({ base, requestId })))
  })

/** One page, or what answers a form of one. */
export const route = <E, R>(
  method: "GET" | "POST",
  path: `/${string}`,
  page: (visit: PageRequest) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  failed: FailureAnswer = asPage
) => ({ method, path, serve: serve(page, failed) })

/** The admin who is signed in, if one is. */
export const admin = Effect.fnUntraced(function*(visit: PageRequest) {
  const unattended = Refresh.isUnattended(visit.query)
  const signedIn = yield* (yield* ConsoleSessions).current(visit.cookies, visit.site, unattended)
  if (Option.isSome(signedIn)) {
    const { organizationId, sessionId } = signedIn.value
    const credential = { kind: "console", id: sessionId } as const
    yield* RequestLog.noteClient(visit.ip, { organizationId, credential, via: "console" })
  }
  return signedIn
})

/** The admin who is signed in, for the data of a page: fails where none is, or in a closed organization. */
export const signedIn = Effect.fnUntraced(function*(visit: PageRequest) {
  const found = yield* admin(visit)
  if (Option.isNone(found)) return yield* signedOut()
  return found.value.organizationClosed ? yield* new OrganizationClosed({}) : found.value
})

/** The caller that the admin is to the operations: with every scope, for the console grants them. */
export const caller = (visit: PageRequest, admin: SignedIn) =>
  Caller.of({
    organizationId: admin.organizationId,
    organizationClosed: admin.organizationClosed,
    adminId: admin.adminId,
    adminName: admin.adminName,
    role: admin.role,
    readsArchive: admin.readsArchive,
    scopes: Scope.literals,
    limit: null,
    credential: { kind: "console", id: admin.sessionId, label: "Console" },
    via: "console",
    ip: visit.ip,
    requestId: visit.requestId
  })

/** The text that the token of the sign-out form is bound to. */
export const outForm = "sign-out"

/** Every page of a closed organization: nothing is shown, and signing out is the only action. */
export const closed = Effect.fnUntraced(function*({ base, requestId }: PageRequest, admin: SignedIn, returnTo = "") {
  const failure = new OrganizationClosed({})
  yield* RequestLog.noteFailure(failure._tag)
  return yield* Html.respond({
    base,
    title: "This organization is closed",
    narrow: true,
    status: 403,
    admin,
    signOut: (yield* ConsoleSessions).csrf(admin.sessionId, outForm),
    returnTo,
    body: Html.html`
<h1>This organization is closed</h1>
<p>${failure.message} Nothing of it is shown or changed here, and no application can be connected to it.</p>
<p>If this is a mistake, tell whoever operates this console for your organization: they can open it again for 30 days. If you belong to another organization, sign out and sign in there.</p>
<p class="hint">Request <code>${requestId}</code></p>`
  })
})

/** The address that a sign-in returns to; a page that it returns to itself keeps its filters. */
const returnAddress = ({ path: asked, query }: PageRequest, path: string): string => {
  if (asked !== path) return path
  const members = Refresh.attended(query)
  return members === "" ? path : `${path}?${members}`
}

/**
 * Runs a page of the signed-in admin; any other visitor signs in first, and returns to the path. In an organization
 * that was wound down there is none.
 */
export const asAdmin = <E, R>(
  visit: PageRequest,
  path: string,
  run: (view: AdminPage) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) =>
  Effect.gen(function*() {
    const found = yield* admin(visit)
    if (Option.isNone(found)) return SignInSteps.toSignIn(visit, returnAddress(visit, path))
    if (found.value.organizationClosed) return yield* closed(visit, found.value)
    const sessions = yield* ConsoleSessions
    const view: AdminPage = {
      visit,
      admin: found.value,
      csrf: (form) => sessions.csrf(found.value.sessionId, form),
      now: yield* Clock.currentTimeMillis
    }
    // However many operations a page calls, it is one request of the session.
    const counted = yield* Effect.cached((yield* RateLimiter).consume(found.value.sessionId))
    return yield* run(view).pipe(
      Effect.provideService(Caller, caller(visit, found.value)),
      Effect.provideService(RateLimiter, { consume: () => counted })
    )
  })

/** Records that a password was refused, before the page says so. */
export const showRefusal = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.tapError(effect, (error) =>
    error instanceof PasswordIncorrect || error instanceof TooManyAttempts
      ? RequestLog.noteFailure(error._tag)
      : Effect.void)
