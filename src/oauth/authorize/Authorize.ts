/**
 * Authorization (RFC 6749, section 4.1, as OAuth 2.1 has it): what the consent page calls for its GET and, with the
 * same query, again for its POST.
 */
import { Effect, Option, Result } from "effect"
import type { OAuthIssuer } from "../../domain/oauth/OAuthRecords.ts"
import { Db } from "../../ports/Db.ts"
import { KnownAssistants, OAuthGrants } from "../../ports/oauth/OAuthPorts.ts"
import type { SignedIn } from "../../ports/signin/ConsoleSessions.ts"
import { refuse, type Refused } from "../OAuthRefusal.ts"
import { parse } from "../Parameters.ts"
import { hostOf } from "../RedirectUri.ts"
import { applicationOf } from "./application.ts"
import { checkArchiveMode } from "./archiveMode.ts"
import { checkChallenge } from "./pkce.ts"
import { checkPrompt } from "./prompt.ts"
import { redirectError } from "./redirect.ts"
import { checkRepetition } from "./repeatedParameters.ts"
import type { AuthorizeRequest, IdentifiedRequest } from "./Request.ts"
import { identify, type UnknownClient } from "./requestedClient.ts"
import { checkRequestObject } from "./requestObject.ts"
import { checkResource } from "./resource.ts"
import { checkResponse } from "./response.ts"
import { checkScope } from "./scope.ts"

export { choices, grant, replaceable } from "./grant.ts"
export type { AuthorizeRequest } from "./Request.ts"
export type { UnknownClient } from "./requestedClient.ts"

/** The outcome of a request. */
export type AuthorizeResult =
  /** An error page; nothing is ever sent to the application. */
  | { readonly _tag: "Page"; readonly reason: UnknownClient["reason"] | "query" }
  /** The admin has to sign in first. */
  | { readonly _tag: "SignIn"; readonly clientName: string }
  /** The fault is reported to the application by a redirect. */
  | { readonly _tag: "Redirect"; readonly location: string }
  /** The admin's organization has to approve the application first, and has not. */
  | { readonly _tag: "Unapproved"; readonly application: string; readonly admin: SignedIn }
  /** The admin decides. */
  | { readonly _tag: "Ready"; readonly request: AuthorizeRequest; readonly admin: SignedIn }

const checkAll = Effect.fnUntraced(function*(request: IdentifiedRequest): Effect.fn.Return<AuthorizeRequest, Refused> {
  const { issuer, parameters, redirectUri } = request
  yield* checkRepetition(parameters)
  yield* checkRequestObject(parameters)
  yield* checkResponse(parameters)
  const challenge = yield* checkChallenge(parameters)
  const resource = yield* checkResource(issuer, parameters)
  const scopes = yield* checkScope(parameters)
  const archiveMode = yield* checkArchiveMode(parameters, redirectUri)
  yield* checkPrompt(parameters)
  const known = (yield* KnownAssistants).get(redirectUri) ?? null
  return { ...request, challenge, resource, archiveMode, ...scopes, host: hostOf(redirectUri), known }
})

/** The request for the admin to decide, or its refusal, by what the organization has approved. */
const decidable = Effect.fnUntraced(function*(request: AuthorizeRequest, admin: SignedIn) {
  const grants = yield* OAuthGrants
  const application = applicationOf(request.client, request.redirectUri)
  const approved = yield* (yield* Db).read(admin.organizationId, grants.mayConnect(admin, application))
  const checked: AuthorizeResult = approved
    ? { _tag: "Ready", request, admin }
    : { _tag: "Unapproved", application, admin }
  return checked
})

/**
 * Checks the query in this order: the application and its address, then whether the admin is signed in, then all else.
 *
 * Nobody who is not signed in is ever sent to an address that an application has registered.
 */
export const check = Effect.fnUntraced(function*(query: string, issuer: OAuthIssuer, admin: Option.Option<SignedIn>) {
  const parameters = parse(query)
  if (Result.isFailure(parameters)) return { _tag: "Page", reason: "query" } satisfies AuthorizeResult
  return yield* Effect.flatMap(identify(issuer, parameters.success, admin), (request) =>
    Option.isNone(admin)
      ? Effect.succeed<AuthorizeResult>({ _tag: "SignIn", clientName: request.client.name })
      : Effect.flatMap(checkAll(request), (asked) => decidable(asked, admin.value)).pipe(
        Effect.catchTag("Refused", ({ description, error }) =>
          Effect.succeed<AuthorizeResult>({ _tag: "Redirect", location: redirectError(request, error, description) }))
      )).pipe(
      Effect.catchTags({
        UnknownClient: ({ reason }) => Effect.succeed<AuthorizeResult>({ _tag: "Page", reason }),
        SignInFirst: ({ host }) => Effect.succeed<AuthorizeResult>({ _tag: "SignIn", clientName: host })
      })
    )
})

/** The redirect that reports the admin's refusal to the application. */
export const deny = (request: AuthorizeRequest): string => {
  const { description, error } = refuse("access_denied", "The admin has denied access.")
  return redirectError(request, error, description)
}
