/** The client of an identity provider: its documents, the redirect to it, and the checks of its answers. */
import { Clock, Context, Deferred, Duration, Effect, Exit, Layer, Option, Redacted, Result, Semaphore } from "effect"
import type { Configuration, CustomFetch, IDToken } from "openid-client"
import {
  providerAnswerSize,
  providerAsked,
  providerDeadline,
  providerFailureKept,
  providerKept,
  providerSignInLifetime,
  providersRemembered,
  providerTolerance
} from "../../domain/Limits.ts"
import type { IdentityProviderFacts } from "../../domain/signin/IdentityProvider.ts"
import { maxSubjectLength } from "../../domain/signin/IdentityProvider.ts"
import {
  ProviderClient,
  type ProviderSecrets,
  type ProviderUser,
  type ProviderWithSecret
} from "../../ports/signin/ProviderClient.ts"
import { ProviderAway, ProviderRefused } from "../../ports/signin/ProviderSignIn.ts"
import * as Https from "../documents/Https.ts"
import { isSpecialAtHome } from "../documents/specialAddresses.ts"
import { LruCache } from "../LruCache.ts"

/** The internet as providers are called: public addresses, and private ones where the operator allows it. */
export const ProviderInternet = Context.Reference<(privateNetwork: boolean) => Https.Internet>(
  "org-security-console/layers/identity/Provider/ProviderInternet",
  {
    defaultValue: () => (privateNetwork) =>
      privateNetwork ? { ...Https.internet, isRefused: isSpecialAtHome } : Https.internet
  }
)

/** The secrets of a sign-in, with the time that the person left for the provider, in milliseconds. */
interface BegunSignIn extends ProviderSecrets {
  readonly since: number
}

/** Signatures by a public key that are strong enough; the provider may offer fewer. */
const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]

/** The library, which is read with the first sign-in. */
const library = Effect.promise(() => import("openid-client"))

/** Asks as the library wants it, within limits of size and time. */
const fetchWithin = (outside: Https.Internet): CustomFetch => async (address, { body, headers, method, signal }) => {
  if (body !== undefined && body !== null && !(body instanceof URLSearchParams)) {
    throw new Error("The body is no form.")
  }
  const limit = AbortSignal.timeout(Duration.toMillis(outside.deadline))
  const within = signal === undefined ? limit : AbortSignal.any([signal, limit])
  const response = await Https.ask(
    address,
    { method: method === "POST" ? "POST" : "GET", headers, body: body?.toString() },
    outside,
    within
  )
  try {
    const text = await Https.textOf(response, providerAnswerSize)
    const { "content-type": type = "", "www-authenticate": challenge } = response.headers
    return new Response(text, {
      status: response.statusCode ?? 500,
      headers: { "content-type": type, ...(challenge === undefined ? {} : { "www-authenticate": challenge }) }
    })
  } finally {
    response.destroy()
  }
}

/** The provider's document without what the library adds. */
const plain = ({ supportsPKCE: _, ...server }: ReturnType<Configuration["serverMetadata"]>) => server

/** The code of what the library refused, for the log: never a value that came from outside. */
const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "UNKNOWN"

/** Codes of answers that came, and are not good; whatever else goes wrong is the way there. */
const refusals =
  /^OAUTH_(?:JWT|INVALID_RESPONSE|KEY|RESPONSE_BODY|WWW|AUTHORIZATION|UNSUPPORTED|PARSE|JSON|RESPONSE_IS)/

/** The code of a token that none of the keys has signed: the provider may have others by now. */
const staleKeys = "OAUTH_KEY_SELECTION_FAILED"

const hostOf = ({ issuer }: IdentityProviderFacts): string => new URL(issuer).host

const refused = (reason: string) =>
  Effect.andThen(
    Effect.logInfo("A sign-in by an identity provider was refused", { reason }),
    new ProviderRefused({ message: "Your identity provider's answer was not accepted." })
  )

const unreached = (provider: IdentityProviderFacts, reason: string) =>
  Effect.andThen(
    Effect.logWarning("An identity provider cannot be asked", { host: hostOf(provider), reason }),
    new ProviderAway({ host: hostOf(provider) })
  )

/**
 * What the provider is asked for where the person has to have signed in there lately: with none at all, again, which
 * some providers know by one of the two alone.
 */
const freshness = ({ max_age_minutes }: IdentityProviderFacts): Readonly<Record<string, string>> =>
  max_age_minutes === null
    ? {}
    : { max_age: String(max_age_minutes * 60), ...(max_age_minutes === 0 ? { prompt: "login" } : {}) }

/** True if the person has signed in at the provider lately enough, seen from when they left for it. */
const isFresh = ({ auth_time }: IDToken, { max_age_minutes }: IdentityProviderFacts, since: number, now: number) => {
  if (max_age_minutes === null) return true
  const tolerance = Duration.toSeconds(providerTolerance)
  return auth_time !== undefined && auth_time <= now / 1000 + tolerance &&
    auth_time >= since / 1000 - max_age_minutes * 60 - tolerance
}

const stale = Effect.andThen(
  Effect.logInfo("A sign-in by an identity provider was refused", { reason: "auth_time" }),
  new ProviderRefused({
    message: "Your organization wants you to sign in anew at your identity provider, which does not say that you did."
  })
)

/** The check of the token beyond what the library has checked: issuer, audience, nonce, expiry, signature. */
const faultOf = (claims: IDToken, provider: IdentityProviderFacts, now: number): string | null => {
  const age = now / 1000 - claims.iat
  const tolerance = Duration.toSeconds(providerTolerance)
  if (claims.iss !== provider.issuer) return "iss"
  if (claims["azp"] !== undefined && claims["azp"] !== provider.client_id) return "azp"
  if (age < -tolerance || age > Duration.toSeconds(providerSignInLifetime)) return "iat"
  return claims.sub.length === 0 || claims.sub.length > maxSubjectLength ? "sub" : null
}

interface KeptConfiguration {
  readonly read: Exit.Exit<Configuration, ProviderAway>
  readonly until: number
}

/** Providers as one process asks them: a few at a time, each one's documents once at a time. */
export const make = Effect.gen(function*() {
  const internetFor = yield* ProviderInternet
  const kept = new LruCache<KeptConfiguration>(providersRemembered)
  const underway = new Map<string, Deferred.Deferred<Configuration, ProviderAway>>()
  const turns = yield* Semaphore.make(providerAsked)

  const discover = Effect.fnUntraced(function*(provider: ProviderWithSecret) {
    const oidc = yield* library
    const now = yield* Clock.currentTimeMillis
    const seconds = Duration.toSeconds(providerDeadline)
    const fetched = fetchWithin(internetFor(provider.private_network))
    const metadata = {
      client_secret: Redacted.value(provider.secret),
      // The library reads the host's time; this one is the database's.
      [oidc.clockSkew]: Math.round((now - new Date().getTime()) / 1000),
      [oidc.clockTolerance]: Duration.toSeconds(providerTolerance)
    }
    return yield* Effect.tryPromise({
      try: async () => {
        const found = await oidc.discovery(new URL(provider.issuer), provider.client_id, metadata, undefined, {
          [oidc.customFetch]: fetched,
          timeout: seconds
        })
        const server = plain(found.serverMetadata())
        const offered = server.id_token_signing_alg_values_supported ?? ["RS256"]
        const allowed = algorithms.filter((each) => offered.includes(each))
        const goesTo = server.authorization_endpoint ?? ""
        // For the one provider that the library makes an exception for, the issuer must be the very text here.
        if (server.issuer !== provider.issuer || allowed.length === 0 || !goesTo.startsWith("https://")) {
          throw new Error("The provider's document is not fit.")
        }
        const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"]
        const config = new oidc.Configuration(
          { ...server, id_token_signing_alg_values_supported: allowed },
          provider.client_id,
          metadata,
          methods.includes("client_secret_basic") ? oidc.ClientSecretBasic() : oidc.ClientSecretPost()
        )
        config[oidc.customFetch] = fetched
        config.timeout = seconds
        // Without this the signature is not checked, for the token came over TLS.
        oidc.enableNonRepudiationChecks(config)
        return config
      },
      catch: codeOf
    }).pipe(Effect.catch((code) => unreached(provider, code)))
  })

  const nameOf = ({ version }: ProviderWithSecret) => version

  const ask = Effect.fnUntraced(
    function*(provider: ProviderWithSecret, answered: Deferred.Deferred<Configuration, ProviderAway>) {
      const read = yield* Effect.exit(
        Effect.flatMap(
          turns.withPermitsIfAvailable(1)(discover(provider)),
          Option.match({
            onNone: () => Effect.fail(new ProviderAway({ host: hostOf(provider) })),
            onSome: Effect.succeed
          })
        )
      )
      const lasts = Exit.isSuccess(read) ? providerKept : providerFailureKept
      kept.set(nameOf(provider), { read, until: (yield* Clock.currentTimeMillis) + Duration.toMillis(lasts) })
      underway.delete(nameOf(provider))
      yield* Deferred.done(answered, read)
    }
  )

  /** The provider's documents, remembered for a while. */
  const configured = Effect.fnUntraced(function*(provider: ProviderWithSecret) {
    const found = kept.peek(nameOf(provider))
    if (found !== undefined && found.until > (yield* Clock.currentTimeMillis)) return yield* found.read
    const other = underway.get(nameOf(provider))
    if (other !== undefined) return yield* Deferred.await(other)
    const answered = Deferred.makeUnsafe<Configuration, ProviderAway>()
    underway.set(nameOf(provider), answered)
    yield* Effect.forkDetach(ask(provider, answered))
    return yield* Deferred.await(answered)
  })

  return {
    /** The address that a person is sent to, to sign in there. */
    address: Effect.fnUntraced(
      function*(
        provider: ProviderWithSecret,
        redirectUri: string,
        { nonce, state, verifier }: ProviderSecrets,
        hint: string | null
      ) {
        const oidc = yield* library
        const config = yield* configured(provider)
        const challenge = yield* Effect.promise(() => oidc.calculatePKCECodeChallenge(verifier))
        return oidc.buildAuthorizationUrl(config, {
          response_type: "code",
          redirect_uri: redirectUri,
          scope: "openid",
          state,
          nonce,
          code_challenge: challenge,
          code_challenge_method: "S256",
          ...freshness(provider),
          ...(hint === null ? {} : { login_hint: hint })
        }).href
      }
    ),

    /** The person who came back to the address, with everything checked that the token and the answer say. */
    person: Effect.fnUntraced(
      function*(provider: ProviderWithSecret, address: URL, { nonce, since, state, verifier }: BegunSignIn) {
        const oidc = yield* library
        const config = yield* configured(provider)
        const asked = Effect.tryPromise({
          try: () =>
            oidc.authorizationCodeGrant(config, address, {
              pkceCodeVerifier: verifier,
              expectedState: state,
              expectedNonce: nonce,
              idTokenExpected: true
            }),
          catch: codeOf
        })
        const answer = yield* Effect.result(turns.withPermitsIfAvailable(1)(asked))
        if (Result.isFailure(answer)) {
          if (answer.failure === staleKeys) kept.delete(nameOf(provider))
          return yield* refusals.test(answer.failure)
            ? refused(answer.failure)
            : unreached(provider, answer.failure)
        }
        if (Option.isNone(answer.success)) return yield* new ProviderAway({ host: hostOf(provider) })
        const claims = answer.success.value.claims()
        if (claims === undefined) return yield* refused("id_token")
        const now = yield* Clock.currentTimeMillis
        const fault = faultOf(claims, provider, now)
        if (fault !== null) return yield* refused(fault)
        if (!isFresh(claims, provider, since, now)) return yield* stale
        const amr: unknown = claims["amr"]
        return { subject: claims.sub, multiFactor: Array.isArray(amr) && amr.includes("mfa") } satisfies ProviderUser
      }
    )
  }
})

export const layer = Layer.effect(ProviderClient, make)
