/** Signing in by identity providers, over the database. */
import { Clock, Duration, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as crypto from "node:crypto"
import * as Actor from "../../domain/journal/Actor.ts"
import { type ActionName, journalAction, journalEntry } from "../../domain/journal/JournalEntry.ts"
import { freeAddressFailures, maxProviderReturn, providerSignInLifetime } from "../../domain/Limits.ts"
import { identityLinked, identityUnlinked } from "../../domain/mail/AdminMails.ts"
import { addressGroup } from "../../domain/NetworkAddress.ts"
import { OrganizationId } from "../../domain/people/Access.ts"
import { callbackPath, type IdentityProviderFacts } from "../../domain/signin/IdentityProvider.ts"
import { Journal } from "../../ports/journal/Journal.ts"
import { Outbox } from "../../ports/mail/Outbox.ts"
import type { AdminRef } from "../../ports/signin/ConsolePasswords.ts"
import type { CookieSite, SessionVisit, SignedIn } from "../../ports/signin/ConsoleSessions.ts"
import { type Identity, IdentityProviders } from "../../ports/signin/IdentityProviders.ts"
import { NoProvider, ProviderRefused, ProviderSignIn } from "../../ports/signin/ProviderSignIn.ts"
import { Vault } from "../crypto/Vault.ts"
import * as Tenant from "../postgres/Tenant.ts"
import { isSecure, setCookie, valueOf } from "../sql/signin/ConsoleSessions.ts"
import { sealedFor } from "../sql/signin/IdentityProviders.ts"
import { countAll, makeTurns, takeBack } from "../sql/signin/PasswordThrottle.ts"
import * as Provider from "./Provider.ts"

/** The facts that a sign-in under way relies on, sealed in the browser's cookie. */
const UnderWay = Schema.fromJsonString(Schema.Struct({
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
type UnderWay = typeof UnderWay.Type

const encode = Schema.encodeSync(UnderWay)
const decode = Schema.decodeUnknownOption(UnderWay)

const cookieName = (site: CookieSite): string => isSecure(site) ? "__Host-console-provider" : "console-provider"

/** The cookie is good on the site that it was made for. */
const cookieFor = ({ baseUrl }: CookieSite): ReadonlyArray<string> => ["provider sign-in", baseUrl]

const digest = (state: string): string => crypto.createHash("sha256").update(state).digest("hex")

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
    const sql = yield* SqlClient.SqlClient
    const vault = yield* Vault
    const random = yield* SecureRandom.SecureRandom
    const journal = yield* Journal
    const outbox = yield* Outbox
    const providers = yield* IdentityProviders
    const client = yield* Provider.make
    const turns = makeTurns()
    const secret = Effect.map(random.randomBytes(32), (bytes) => Buffer.from(bytes).toString("base64url"))

    const known = Effect.fnUntraced(function*(organizationId: OrganizationId) {
      const [row] = yield* Tenant.transaction(sql, organizationId, { access: "read" })(
        sql<IdentityProviderFacts & { readonly client_secret_sealed: string }>`
          select issuer, client_id, required, second_factor, private_network, max_age_minutes, version,
            client_secret_sealed
          from identity_provider where organization_id = ${organizationId}`
      )
      if (row === undefined) return null
      const { client_secret_sealed, ...facts } = row
      const opened = yield* vault.open(client_secret_sealed, sealedFor(organizationId, facts))
      return { ...facts, secret: opened } satisfies Provider.ProviderWithSecret
    })

    /** The cookie's content; none for one that is not this service's, or was planted with another. */
    const underWay = Effect.fnUntraced(function*({ cookies, site }: SessionVisit) {
      const sealed = valueOf(cookies, cookieName(site))
      if (sealed === undefined) return Option.none<UnderWay>()
      const opened = yield* Effect.option(
        Effect.catchDefect(vault.open(sealed, cookieFor(site)), () => Effect.fail("unsealed"))
      )
      return Option.flatMap(opened, (text) => decode(Redacted.value(text)))
    })

    /** Uses up the sign-in: each can return only once. */
    const use = Effect.fnUntraced(function*(organizationId: OrganizationId, { state, version }: UnderWay, now: Date) {
      const held = yield* sql`
        select 1 from identity_provider where organization_id = ${organizationId} and version = ${version}::uuid
        for share`
      const first = held.length === 0 ? [] : yield* sql`
        insert into identity_sign_in (organization_id, digest, used_at)
        values (${organizationId}, ${digest(state)}, ${now}) on conflict do nothing returning digest`
      if (first.length === 0) return yield* over
    })

    const admitted = Effect.fnUntraced(function*(organizationId: OrganizationId, { issuer, subject }: Identity) {
      const [found] = yield* sql<{ admin_id: string }>`
        select admin_id from identity_link
        join admin on admin.organization_id = identity_link.organization_id and admin.id = admin_id
        where identity_link.organization_id = ${organizationId} and issuer = ${issuer} and subject = ${subject}
          and disabled_at is null and removed_at is null and joined_at is not null
        for share of admin`
      if (found !== undefined) return { organizationId, adminId: found.admin_id }
      return yield* new ProviderRefused({
        message: `Your identity provider calls you ${subject}. No admin who can sign in is linked to this.`
      })
    })

    const journaled = (
      admin: Pick<SignedIn, "adminId" | "adminName" | "organizationId" | "sessionId">,
      visit: SessionVisit,
      action: ActionName,
      details: Identity & { readonly sessions_ended?: number }
    ) =>
      journal.append(
        admin.organizationId,
        journalEntry(Actor.signedIn(admin), { ...visit, via: "console" }, journalAction(action), {
          targetId: admin.adminId,
          details: { ...details }
        })
      )

    const linked = Effect.fnUntraced(function*(admin: SignedIn, identity: Identity, visit: SessionVisit, now: Date) {
      const { organizationId } = admin
      const ref: AdminRef = { organizationId, adminId: admin.adminId }
      yield* sql`
        select 1 from admin where organization_id = ${organizationId} and id = ${admin.adminId} for no key update`
      if ((yield* providers.linkOf(ref)) !== null) {
        return yield* new ProviderRefused({ message: "You are linked already: remove that link first." })
      }
      if (!(yield* providers.link(ref, identity, now))) {
        return yield* new ProviderRefused({
          message: `Your identity provider calls you ${identity.subject}. Another admin is linked to this.`
        })
      }
      yield* journaled(admin, visit, "admin.identity_linked", identity)
      yield* outbox.add(
        organizationId,
        "event",
        identityLinked({ adminId: admin.adminId, issuer: identity.issuer, by: admin.adminName ?? admin.email })
      )
    })

    /** Completes a sign-in that returned from the provider; the cookie has been checked. */
    const arrive = Effect.fnUntraced(function*(
      organizationId: OrganizationId,
      begun: UnderWay,
      query: string,
      visit: SessionVisit,
      signedIn: Option.Option<SignedIn>
    ) {
      const since = new Date(begun.since)
      const provider = yield* known(organizationId)
      if (provider === null || provider.version !== begun.version) return yield* over
      const address = new URL(`${visit.site.baseUrl}${callbackPath(organizationId)}?${query}`)
      const { multiFactor, subject } = yield* client.person(provider, address, begun)
      const identity = { issuer: provider.issuer, subject }
      const now = new Date(yield* Clock.currentTimeMillis)
      return yield* Tenant.transaction(sql, organizationId)(Effect.gen(function*() {
        yield* use(organizationId, begun, now)
        if (begun.link === null) {
          const admin = yield* admitted(organizationId, identity)
          const counts = provider.second_factor === "provider" || provider.second_factor === "claim" && multiFactor
          const first = {
            since,
            details: { way: "identity_provider", issuer: provider.issuer },
            factor: counts ? "identity_provider" as const : null
          }
          return { kind: "sign_in", admin, first, returnTo: begun.return_to } as const
        }
        if (Option.isNone(signedIn)) return yield* over
        yield* linked(signedIn.value, identity, visit, now)
        return { kind: "linked" } as const
      }))
    })

    return ProviderSignIn.of({
      offered: ({ organizationId }) =>
        Effect.map(
          Tenant.directory(sql)(sql<{ offered: boolean }>`
            select exists (
              select 1 from identity_provider
              where ${organizationId === null ? sql`true` : sql`organization_id = ${organizationId}`}) as offered`),
          ([row]) => row?.offered ?? false
        ),

      go: Effect.fnUntraced(function*({ admin, hint, organization, returnTo }, visit) {
        const { site } = visit
        const organizationId = site.organizationId ?? organizationOf(organization)
        const provider = organizationId === null ? null : yield* known(organizationId)
        if (organizationId === null || provider === null) return yield* new NoProvider()
        const secrets = { state: yield* secret, nonce: yield* secret, verifier: yield* secret }
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
          since: yield* Clock.currentTimeMillis,
          return_to: returnTo.length > maxProviderReturn ? "" : returnTo,
          link: admin === null ? null : { session: admin.sessionId, admin: admin.adminId }
        })
        const sealed = vault.seal(Redacted.make(begun), cookieFor(site))
        return {
          url,
          host: new URL(url).host,
          cookie: setCookie(site, cookieName(site), sealed, providerSignInLifetime)
        }
      }),

      back: Effect.fnUntraced(function*(organization, query, visit, signedIn) {
        const { ip, site } = visit
        const begun = Option.getOrNull(yield* underWay(visit))
        const organizationId = organizationOf(organization)
        const now = yield* Clock.currentTimeMillis
        const age = begun === null ? 0 : now - begun.since
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
        const counter = {
          key: `provider:${ip === null ? "nowhere" : digest(addressGroup(ip))}`,
          free: freeAddressFailures
        }
        return yield* turns(counter.key)(Effect.gen(function*() {
          yield* countAll(sql, [counter])
          const arrived = yield* Effect.tapErrorTag(
            arrive(organizationId, begun, query, visit, signedIn),
            ["ProviderAway", "service_unavailable"],
            () => takeBack(sql, [counter])
          )
          yield* takeBack(sql, [counter])
          return arrived
        }))
      }),

      forget: (site) => setCookie(site, cookieName(site), "", Duration.zero),

      state: ({ adminId, organizationId }) =>
        Tenant.transaction(sql, organizationId, { access: "read" })(Effect.gen(function*() {
          const found = yield* providers.find(organizationId)
          const link = yield* providers.linkOf({ organizationId, adminId })
          return found === null ? null : { issuer: found.issuer, link }
        })),

      unlink: Effect.fnUntraced(function*(admin, visit) {
        const { adminId, organizationId } = admin
        yield* Tenant.transaction(sql, organizationId)(Effect.gen(function*() {
          yield* sql`
            select 1 from admin where organization_id = ${organizationId} and id = ${adminId} for no key update`
          const link = yield* providers.linkOf({ organizationId, adminId })
          if (link === null) return
          yield* providers.unlink({ organizationId, adminId })
          const ended = yield* providers.endSessionsOf({ organizationId, adminId }, admin.sessionId)
          const { issuer, subject } = link
          yield* journaled(admin, visit, "admin.identity_unlinked", { issuer, subject, sessions_ended: ended })
          yield* outbox.add(
            organizationId,
            "event",
            identityUnlinked({ adminId, issuer, by: admin.adminName ?? admin.email })
          )
        }))
      })
    })
  })
)

/** Deletes expired sign-ins. */
export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  yield* Tenant.directory(sql)(sql`
    delete from identity_sign_in where used_at <= ${new Date(now - Duration.toMillis(providerSignInLifetime))}`)
})
