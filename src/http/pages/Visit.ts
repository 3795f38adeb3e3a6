/** One visit to a page: the site, the form, the signed-in admin, and the error pages. */
import { ByteSize, Clock, Effect, Option, Redacted } from "effect"
import { Cookies, HttpServerRequest, HttpServerResponse } from "effect/http"
import { ConsoleSessions, type SignedIn } from "../../console/ConsoleSessions.ts"
import { type FirstFactor, SignIns } from "../../console/SignIns.ts"
import { Caller, Scope } from "../../domain/Access.ts"
import {
  OrganizationClosed,
  ParameterInvalid,
  PasswordIncorrect,
  ResourceMissing,
  TooManyAttempts
} from "../../domain/Failure.ts"
import { choicesListed, maxChosen, maxFormSize, maxParameters } from "../../domain/OAuth.ts"
import { isUuid } from "../../domain/Wire.ts"
import { type ErrorAnswer, recover } from "../../edge/Answer.ts"
import { admitAnonymous } from "../../edge/Authenticate.ts"
import * as Body from "../../edge/Body.ts"
import { clientOf } from "../../edge/ClientAddress.ts"
import { hostOf } from "../../edge/Entry.ts"
import * as RequestLog from "../../edge/RequestLog.ts"
import { Readiness, RequestId } from "../../edge/Settings.ts"
import { type Site, Sites } from "../../edge/Site.ts"
import type { AdminRef } from "../../ports/ConsolePasswords.ts"
import { RateLimiter } from "../../ports/RateLimits.ts"
import * as Html from "./Html.ts"
import { home } from "./Navigation.ts"

/** What a page knows of its request. */
export interface Visit {
  readonly site: Site
  /** The path of the site, before every address of a page. */
  readonly base: string
  /** The requested path, within the site. */
  readonly path: string
  /** The members of the path. */
  readonly params: Readonly<Record<string, string | undefined>>
  /** The query as it was sent, without the question mark. */
  readonly query: string
  readonly cookies: string | undefined
  /** Whether a browser shows what is answered to a person. */
  readonly navigates: boolean
  readonly ip: string | null
  readonly requestId: string
  readonly userAgent: string | undefined
}

/** What to try, by the status of what went wrong. */
const advice = (status: number): string => {
  switch (status) {
    case 400:
      return "Go back and try again."
    case 403:
      return "Go back, load the page again and repeat what you did."
    case 404:
      return "Check the address, or go to the console."
    case 429:
      return "Wait a moment, then try again."
    case 503:
      return "Try again in a few seconds."
    default:
      return "Try again. If it happens again, contact your support and quote the request's id."
  }
}

export interface Problem {
  readonly status: number
  readonly title: string
  readonly text: string
  readonly advice?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A page with an error and advice. */
export const problem = (base: string, requestId: string, { headers, status, text, title, ...problem }: Problem) =>
  Html.respond({
    base,
    title,
    narrow: true,
    status,
    ...(headers === undefined ? {} : { headers }),
    body: Html.html`
<h1>${title}</h1>
<p>${text}</p>
<p>${problem.advice ?? advice(status)}</p>
<p><a href="${base}/console">Go to the console</a></p>
<p class="hint">Request <code>${requestId}</code></p>`
  })

/** The page of who may not see it in their role. */
export const notForRole = ({ base, requestId }: Pick<Visit, "base" | "requestId">, text: string) =>
  problem(base, requestId, { status: 403, title: "This page is not for your role", text, advice: "Ask one of them." })

const titles: Readonly<Record<number, string>> = {
  400: "This request is invalid",
  403: "This is not allowed",
  404: "There is no such page",
  429: "Too many attempts",
  503: "Not available at the moment"
}

const failed = (base: string, requestId: string) => ({ body, headers, status }: ErrorAnswer) =>
  problem(base, requestId, {
    status,
    title: titles[status] ?? "Something went wrong",
    text: body.error.message,
    headers
  })

/** Serves a page: the site is known and the service is ready, and whatever goes wrong is a page too. */
const serve = <E, R>(
  page: (visit: Visit) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) =>
(params: Visit["params"]) =>
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
    }).pipe(recover(failed(base, requestId)))
  })

/** One page, or what answers a form of one. */
export const route = <E, R>(
  method: "GET" | "POST",
  path: `/${string}`,
  page: (visit: Visit) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) => ({ method, path, serve: serve(page) })

/** The admin who is signed in, if one is. */
export const admin = Effect.fnUntraced(function*(visit: Visit) {
  const signedIn = yield* (yield* ConsoleSessions).current(visit.cookies, visit.site)
  if (Option.isSome(signedIn)) {
    const { organizationId, sessionId } = signedIn.value
    const credential = { kind: "console", id: sessionId } as const
    yield* RequestLog.noteClient(visit.ip, { organizationId, credential, via: "console" })
  }
  return signedIn
})

/** The caller that the admin is to the operations: with every scope, for the console grants them. */
export const caller = (visit: Visit, admin: SignedIn) =>
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

/** A page of an admin who is signed in. */
export interface View {
  readonly visit: Visit
  readonly admin: SignedIn
  /** The token of a form of the session, by the text that it is bound to. */
  readonly csrf: (form: string) => string
  readonly now: number
}

/** The text that the token of the sign-out form is bound to. */
export const outForm = "sign-out"

/** Every page of a closed organization: nothing is shown, and signing out is the only action. */
export const closed = Effect.fnUntraced(function*({ base, requestId }: Visit, admin: SignedIn, returnTo = "") {
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

/**
 * Runs a page of the signed-in admin; any other visitor signs in first, and returns to the path. In an organization
 * that was wound down there is none.
 */
export const asAdmin = <E, R>(
  visit: Visit,
  path: string,
  run: (view: View) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) =>
  Effect.gen(function*() {
    const found = yield* admin(visit)
    if (Option.isNone(found)) return toSignIn(visit, path)
    if (found.value.organizationClosed) return yield* closed(visit, found.value)
    const sessions = yield* ConsoleSessions
    const view: View = {
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

/** Pages that a sign-in does not return to, because they are for visitors who are not signed in. */
const outside = /^\/console\/(?:sign-in|sign-out|style\.css|passkeys\.js|invitation|reset)(?:\/|$)/

/** Whether a sign-in may lead back to the path: to the consent page, and to every page of the console. */
const isReturnPath = (path: string): boolean =>
  path === "/oauth/authorize" || path.startsWith("/console/") && !outside.test(path)

/** What the address is about, by the member of its path; what is no id is nothing. */
export const idOf = ({ params }: Visit, param: "account_id" | "login_id") => {
  const id = params[param]?.toLowerCase() ?? ""
  return isUuid(id) ? Effect.succeed(id) : Effect.fail(new ResourceMissing({ param }))
}

/** The address within the site, if a sign-in may return to it; otherwise the console's first page. */
export const returnPath = (text: string | null): string => {
  const fallback = home
  if (text === null || !/^\/[\x21-\x5b\x5d-\x7e]*$/.test(text)) return fallback
  const url = URL.canParse(text, "http://site.invalid") ? new URL(text, "http://site.invalid") : undefined
  return url !== undefined && url.origin === "http://site.invalid" && isReturnPath(url.pathname)
    ? `${url.pathname}${url.search}`
    : fallback
}

/** The pages for the second factor of a sign-in, for setting one up first, and for signing in with only a passkey. */
export const secondFactorPath = "/console/sign-in/second-factor"
export const setUpPath = "/console/sign-in/set-up"
export const passkeyPath = "/console/sign-in/passkey"

/** Whether browsers have passkeys at the site: not at an address without a name. */
export const hasPasskeys = ({ site }: Visit): boolean => !/^[\d.]+$|^\[/.test(new URL(site.baseUrl).hostname)

/** Leads to the second step of a sign-in, and from there to the path. */
export const toSecondFactor = ({ base }: Visit, path: string) =>
  Html.redirect(`${base}${secondFactorPath}?return_to=${encodeURIComponent(path)}`)

/** Signs in after the first factor, through the second one where it is required, and redirects to the path. */
export const signIn = Effect.fnUntraced(function*(visit: Visit, admin: AdminRef, first: FirstFactor, path: string) {
  const { cookies, state } = yield* (yield* SignIns).begin(admin, visit, first)
  const next = state === "signed_in" ? Html.redirect(`${visit.base}${path}`) : toSecondFactor(visit, path)
  return HttpServerResponse.mergeCookies(next, Cookies.fromSetCookie(cookies))
})

/** Leads to the sign-in, and from there back to the path. */
export const toSignIn = ({ base }: Visit, path: string) =>
  Html.redirect(`${base}/console/sign-in?return_to=${encodeURIComponent(path)}`)

/** The members of a form that was sent. */
export interface Form {
  text(name: string): string
  all(name: string): ReadonlyArray<string>
  secret(name: string): Redacted.Redacted
}

export interface FormLimits {
  readonly bytes: number
  readonly members: number
}

/** How many boxes a form may send: one list more than allowed, so that the operation can refuse and name the limit. */
const maxTicked = maxChosen + choicesListed
const tickedSize = "&department=".length + 36

/** How large the forms of the pages may be, and how many members they may have; the consent's lists what is ticked. */
export const formLimits = {
  page: { bytes: maxFormSize, members: maxParameters },
  consent: { bytes: maxFormSize + maxTicked * tickedSize, members: maxParameters + maxTicked },
  /** Accounts and departments can be ticked both. */
  access: { bytes: maxFormSize + 2 * maxTicked * tickedSize, members: maxParameters + 2 * maxTicked }
} satisfies Record<string, FormLimits>

const formType = /^application\/x-www-form-urlencoded(?:\s*;.*)?$/i

/**
 * The form of a request, which a page of this site must have sent.
 *
 * Under `Referrer-Policy: no-referrer` browsers write `Origin: null` for a form of the same site too: `Sec-Fetch-Site`
 * then has to say that it is one.
 */
export const form = Effect.fnUntraced(function*({ site }: Visit, limits: FormLimits = formLimits.page) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const origin = request.headers["origin"]
  const fetchSite = request.headers["sec-fetch-site"]
  const own = new URL(site.baseUrl).origin
  const sameOrigin = (fetchSite === undefined || fetchSite === "same-origin") &&
    (origin === undefined || origin === own || origin === "null" && fetchSite === "same-origin")
  const typed = formType.test(request.headers["content-type"] ?? "")
  if (!sameOrigin || !typed) return Option.none<Form>()
  const tooLarge = () => new ParameterInvalid({ message: "The form is too large." })
  const bytes = yield* Effect.mapError(Body.read(request, ByteSize.bytes(limits.bytes)), tooLarge)
  const members = new URLSearchParams(new TextDecoder().decode(bytes))
  if (members.size > limits.members) return yield* tooLarge()
  return Option.some<Form>({
    text: (name) => members.get(name) ?? "",
    all: (name) => members.getAll(name),
    secret: (name) => Redacted.make(members.get(name) ?? "")
  })
})

/** A form that did not come from this site, or is out of date. */
export const foreignForm = ({ base, requestId }: Visit) =>
  problem(base, requestId, {
    status: 403,
    title: "This form is not valid",
    text: "It was not sent from this console, was changed, or belongs to a session that has ended. Nothing was done."
  })
