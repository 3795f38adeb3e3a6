/** Signing in by identity providers. */
import { Duration, Effect, Layer, Option, Redacted, Schema } from "effect"
import * as Actor from "../domain/journal/Actor.ts"
import { freeAddressFailures, maxProviderReturn, providerSignInLifetime } from "../domain/Limits.ts"
import { identityLinked, identityUnlinked } from "../domain/mail/AdminMails.ts"
import { now } from "../domain/Moments.ts"
import { OrganizationId } from "../domain/people/Access.ts"
import { callbackPath } from "../domain/signin/IdentityProvider.ts"
import { Db } from "../ports/Db.ts"
import type { CookieSite, SessionVisit, SignedIn } from "../ports/signin/ConsoleSessions.ts"
import { type Identity, IdentityProviders } from "../ports/signin/IdentityProviders.ts"
import { ProviderClient, ProviderSignInRecords } from "../ports/signin/ProviderClient.ts"
import { NoProvider, ProviderRefused, ProviderSignIn } from "../ports/signin/ProviderSignIn.ts"
import { SignInSecrets } from "../ports/signin/SignInSecrets.ts"
import { makeCookie } from "./Cookies.ts"
import { recorder } from "./SignInEntries.ts"
import { makeTurns, throttle } from "./Throttle.ts"

/** The facts that a sign-in under way relies on, sealed in the browser's cookie. */
const PendingProviderSignIn = Schema.fromJsonString(Schema.Struct({
  organization: Schema.String,
  version: Schema.String,
  state: Schema.String,
  nonce: Schema.String,
  verifier: Schema.String,
  since: Schema.Int,
  return_to: Schema.String,
  /** The session and the admin that are to be linked; null to sign in. */
  link: Schema.NullOr(Schema.Struct({ session: Schema.String, admin: Schema.String }))
}))
type PendingProviderSignIn = typeof PendingProviderSignIn.Type

const encode = Schema.encodeSync(PendingProviderSignIn)
const decode = Schema.decodeUnknownOption(PendingProviderSignIn)

const cookie = makeCookie("console-provider", providerSignInLifetime)

/** The cookie is good on the site that it was made for. */
const cookieFor = ({ baseUrl }: CookieSite): ReadonlyArray<string> => ["provider sign-in", baseUrl]

const over = new ProviderRefused({
  message: "This sign-in is over, was begun in another browser, or was completed already."
})

/** The organization as it is typed; null for what is none's id. */
const organizationOf = (text: string): OrganizationId | null => {
  const typed = text.trim().toLowerCase()
  return Schema.is(OrganizationId)(typed) ? typed : null
}

export const layer = Layer.effect(
  ProviderSignIn,
  Effect.gen(function*() {
    const db = yield* Db
    const records = yield* ProviderSignInRecords
    const providers = yield* IdentityProviders
    const client = yield* ProviderClient
    const { digest, newSecret, open, seal } = yield* SignInSecrets
    const { count, counterOf, takeBack } = yield* throttle
    const record = yield* recorder
    const turns = makeTurns()

    const find = (organizationId: OrganizationId) => db.read(organizationId, records.find(organizationId))

    /** The cookie's content; none for one that is not this service's, or was planted with another. */
    const underWay = Effect.fnUntraced(function*({ cookies, site }: SessionVisit) {
      const sealed = cookie.read(cookies, site)
      if (sealed === undefined) return Option.none<PendingProviderSignIn>()
      const opened = yield* Effect.option(
        Effect.catchDefect(open(sealed, cookieFor(site)), () => Effect.fail("unsealed"))
      )
      return Option.flatMap(opened, (text) => decode(Redacted.value(text)))
    })

    const linked = Effect.fnUntraced(function*(admin: SignedIn, identity: Identity, visit: SessionVisit, at: Date) {
      const { issuer, subject } = identity
      yield* records.lockAdmin(admin)
      if ((yield* providers.linkOf(admin)) !== null) {
        return yield* new ProviderRefused({ message: "You are linked already: remove that link first." })
      }
      if (!(yield* providers.link(admin, identity, at))) {
        return yield* new ProviderRefused({
          message: `Your identity provider calls you ${subject}. Another admin is linked to this.`
        })
      }
      const mail = identityLinked({ adminId: admin.adminId, issuer, by: admin.adminName ?? admin.email })
      yield* record(Actor.signedIn(admin), admin, visit, "admin.identity_linked", { issuer, subject }, mail)
    })

    /** Completes a sign-in that returned from the provider; the cookie has been checked. */
    const arrive = Effect.fnUntraced(function*(
      organizationId: OrganizationId,
      begun: PendingProviderSignIn,
      query: string,
      visit: SessionVisit,
      signedIn: Option.Option<SignedIn>
    ) {
      const since = new Date(begun.since)
      const provider = yield* find(organizationId)
      if (provider === null || provider.version !== begun.version) return yield* over
      const address = new URL(`${visit.site.baseUrl}${callbackPath(organizationId)}?${query}`)
      const { multiFactor, subject } = yield* client.person(provider, address, begun)
      const identity = { issuer: provider.issuer, subject }
      const at = yield* now
      return yield* db.transaction(
        organizationId,
        Effect.gen(function*() {
          if (!(yield* records.use(organizationId, begun.version, digest(begun.state), at))) return yield* over
          if (begun.link === null) {
            const admin = yield* records.findLinked(organizationId, identity)
            if (admin === null) {
              return yield* new ProviderRefused({
                message: `Your identity provider calls you ${subject}. No admin who can sign in is linked to this.`
              })
            }
            const counts = provider.second_factor === "provider" || provider.second_factor === "claim" && multiFactor
            const first = {
              since,
              details: { way: "identity_provider", issuer: provider.issuer },
              factor: counts ? "identity_provider" as const : null
            }
            return { kind: "sign_in", admin, first, returnTo: begun.return_to } as const
          }
          if (Option.isNone(signedIn)) return yield* over
          yield* linked(signedIn.value, identity, visit, at)
          return { kind: "linked" } as const
        })
      )
    })

    return ProviderSignIn.of({
      offered: ({ organizationId }) => records.isOffered(organizationId),

      go: Effect.fnUntraced(function*({ admin, hint, organization, returnTo }, visit) {
        const { site } = visit
        const organizationId = site.organizationId ?? organizationOf(organization)
        const provider = organizationId === null ? null : yield* find(organizationId)
        if (organizationId === null || provider === null) return yield* new NoProvider()
        const secrets = { state: yield* newSecret, nonce: yield* newSecret, verifier: yield* newSecret }
        const url = yield* client.address(
          provider,
          `${site.baseUrl}${callbackPath(organizationId)}`,
          secrets,
          hint !== null && /^[^\s@]{1,64}@[^\s@]{1,190}$/.test(hint) ? hint : null
        )
        const begun = encode({
          ...secrets,
          organization: organizationId,
          version: provider.version,
          since: (yield* now).getTime(),
          return_to: returnTo.length > maxProviderReturn ? "" : returnTo,
          link: admin === null ? null : { session: admin.sessionId, admin: admin.adminId }
        })
        const sealed = seal(Redacted.make(begun), cookieFor(site))
        return { url, host: new URL(url).host, cookie: cookie.set(site, sealed) }
      }),

      back: Effect.fnUntraced(function*(organization, query, visit, signedIn) {
        const { site } = visit
        const begun = Option.getOrNull(yield* underWay(visit))
        const organizationId = organizationOf(organization)
        const age = begun === null ? 0 : (yield* now).getTime() - begun.since
        const states = new URLSearchParams(query).getAll("state")
        if (
          begun === null || organizationId === null || begun.organization !== organizationId ||
          site.organizationId !== null && site.organizationId !== organizationId ||
          age >= Duration.toMillis(providerSignInLifetime) || age < 0 ||
          states.length !== 1 || states[0] !== begun.state
        ) {
          return yield* over
        }
        const { link } = begun
        if (
          link !== null &&
          !Option.exists(signedIn, (admin) =>
            admin.sessionId === link.session && admin.adminId === link.admin &&
            admin.organizationId === organizationId)
        ) {
          return yield* over
        }
        const counter = counterOf("provider", visit, freeAddressFailures)
        return yield* turns(counter.key)(Effect.gen(function*() {
          yield* count([counter])
          const arrived = yield* Effect.tapErrorTag(
            arrive(organizationId, begun, query, visit, signedIn),
            ["ProviderAway", "service_unavailable"],
            () => takeBack([counter])
          )
          yield* takeBack([counter])
          return arrived
        }))
      }),

      forget: cookie.forget,

      state: (admin) =>
        db.read(
          admin.organizationId,
          Effect.gen(function*() {
            const found = yield* providers.find(admin.organizationId)
            const link = yield* providers.linkOf(admin)
            return found === null ? null : { issuer: found.issuer, link }
          })
        ),

      unlink: (admin, visit) =>
        db.transaction(
          admin.organizationId,
          Effect.gen(function*() {
            const { adminId, adminName, email, sessionId } = admin
            yield* records.lockAdmin(admin)
            const link = yield* providers.linkOf(admin)
            if (link === null) return
            yield* providers.unlink(admin)
            const { issuer, subject } = link
            const details = { issuer, subject, sessions_ended: yield* providers.endSessionsOf(admin, sessionId) }
            const mail = identityUnlinked({ adminId, issuer, by: adminName ?? email })
            yield* record(Actor.signedIn(admin), admin, visit, "admin.identity_unlinked", details, mail)
          })
        )
    })
  })
)
