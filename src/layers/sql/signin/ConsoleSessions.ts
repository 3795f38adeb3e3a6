import { Clock, Duration, Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as crypto from "node:crypto"
import { ServiceUnavailable } from "../../../domain/Failure.ts"
import * as Actor from "../../../domain/journal/Actor.ts"
import { type ActionName, journalAction, journalEntry } from "../../../domain/journal/JournalEntry.ts"
import type { JournalDetails } from "../../../domain/journal/JournalEvent.ts"
import {
  browserKnownLong,
  consoleSessionIdle,
  consoleSessionLifetime,
  knownBrowserLifetime
} from "../../../domain/Limits.ts"
import { addressGroup } from "../../../domain/NetworkAddress.ts"
import { type OrganizationId, readsArchive, type Role } from "../../../domain/people/Access.ts"
import { browserName } from "../../../domain/signin/BrowserName.ts"
import { Journal } from "../../../ports/journal/Journal.ts"
import { type AdminRef, ConsolePasswords } from "../../../ports/signin/ConsolePasswords.ts"
import {
  ConsoleSessions,
  type CookieSite,
  type ListedSession,
  type SessionVisit,
  type SignedIn,
  type SignInProof
} from "../../../ports/signin/ConsoleSessions.ts"
import { hmac, sameText } from "../../crypto/Peppers.ts"
import { CsrfKeys } from "../../crypto/signin/CsrfKeys.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as Endings from "../credentials/CredentialEndings.ts"
import * as Notices from "../credentials/CredentialNotices.ts"
import * as Factors from "./Factors.ts"
import { maySignInHere } from "./IdentityProviders.ts"
import * as KnownBrowsers from "./KnownBrowsers.ts"
import { browserDigest } from "./KnownBrowsers.ts"
import * as PasswordFailures from "./PasswordFailures.ts"

const knownLong = Duration.toMillis(browserKnownLong)

const sessionsListed = 50

/** The admin of a session, as the journal names them. */
type Named = AdminRef & Pick<SignedIn, "adminName" | "sessionId">

interface SessionRow {
  readonly id: string
  readonly organization_id: OrganizationId
  readonly organization_name: string
  readonly closed: boolean
  readonly admin_id: string
  readonly admin_name: string | null
  readonly email: string
  readonly role: Role
  readonly archive_access: boolean
}

export const isSecure = ({ baseUrl }: CookieSite): boolean => baseUrl.startsWith("https:")

/** Browsers refuse the prefix, and `Secure`, over plain http, which is for a machine's own loopback. */
const cookieName = (site: CookieSite): string => isSecure(site) ? "__Host-console" : "console"
const browserCookieName = (site: CookieSite): string => isSecure(site) ? "__Host-console-browser" : "console-browser"

export const setCookie = (site: CookieSite, name: string, value: string, age: Duration.Duration): string =>
  [
    `${name}=${value}`,
    `Max-Age=${Duration.toSeconds(age)}`,
    "Path=/",
    "HttpOnly",
    ...(isSecure(site) ? ["Secure"] : []),
    "SameSite=Lax"
  ].join("; ")

const cookiesFor = (site: CookieSite, secret: string, known: Redacted.Redacted): ReadonlyArray<string> => [
  setCookie(site, cookieName(site), secret, consoleSessionLifetime),
  setCookie(site, browserCookieName(site), Redacted.value(known), knownBrowserLifetime)
]

/** The cookie's value in a Cookie header; none where the name occurs twice, for one of the two was planted. */
export const valueOf = (cookies: string | undefined, name: string): string | undefined => {
  const start = `${name}=`
  const found = (cookies ?? "").split(";").map((part) => part.trim()).filter((part) => part.startsWith(start))
  return found.length === 1 ? found[0]?.slice(start.length) : undefined
}

const secretOf = (cookies: string | undefined, site: CookieSite): string | undefined =>
  valueOf(cookies, cookieName(site))

export const digest = (secret: string): string => crypto.createHash("sha256").update(secret).digest("hex")

/** The basis of the sign-in was removed while it was under way: a new sign-in meets the current requirements. */
export const overtaken = new ServiceUnavailable({
  message: "What you sign in with was changed meanwhile. Sign in again.",
  retry_after: 1
})

/** Sessions in the database, by the digest of a cookie; each use is written, so that idleness is exact. */
export const layer = Layer.effect(
  ConsoleSessions,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const post = Tenant.post(sql)
    const random = yield* SecureRandom.SecureRandom
    const keys = yield* CsrfKeys
    const passwords = yield* ConsolePasswords
    const journal = yield* Journal
    const text = (sessionId: string, form: string) => JSON.stringify([sessionId, form])
    const newSecret = Effect.map(random.randomBytes(32), (bytes) => Buffer.from(bytes).toString("base64url"))

    const browser = (cookies: string | undefined, site: CookieSite) => {
      const secret = valueOf(cookies, browserCookieName(site))
      return secret === undefined ? null : Redacted.make(secret)
    }

    const journaled = (admin: Named, action: ActionName, visit: SessionVisit, details: JournalDetails) =>
      journal.append(
        admin.organizationId,
        journalEntry(Actor.signedIn(admin), { ...visit, via: "console" }, journalAction(action), {
          targetId: admin.adminId,
          details
        })
      )

    /** The condition that a session has ended neither by itself nor with its admin. */
    const live = (now: number) =>
      sql`session.last_used_at > ${new Date(now - Duration.toMillis(consoleSessionIdle))}
        and session.created_at > ${new Date(now - Duration.toMillis(consoleSessionLifetime))}
        and disabled_at is null and (password_changed_at is null or password_changed_at <= session.created_at)`

    /**
     * Holds the admin and the organization: what ends sessions of theirs comes before this one and is seen, or after.
     */
    const hold = Effect.fnUntraced(function*({ adminId, organizationId }: AdminRef) {
      yield* sql`select 1 from admin where organization_id = ${organizationId} and id = ${adminId} for share`
      yield* sql`select 1 from organization where id = ${organizationId} for share`
    })

    /** True if the identity, and the second factor that was given, are the admin's still. */
    const mayStart = Effect.fnUntraced(
      function*(
        { adminId, organizationId }: AdminRef,
        factor: SignInProof["factor"],
        { issuer, way }: JournalDetails
      ) {
        const open = way === "invitation"
          ? sql`true`
          : way === "identity_provider"
          ? sql`exists (
              select 1 from identity_link
              where identity_link.organization_id = admin.organization_id and admin_id = admin.id
                and issuer = ${issuer ?? null})`
          : maySignInHere(sql)
        const own = factor === null || factor === "identity_provider" ? sql`true` : Factors.hasOne(sql)
        const found = yield* sql`
          select 1 from admin
          where organization_id = ${organizationId} and id = ${adminId} and disabled_at is null and ${open} and ${own}`
        return found.length > 0
      }
    )

    return ConsoleSessions.of({
      current: Effect.fnUntraced(function*(cookies, site, unattended = false) {
        const secret = secretOf(cookies, site)
        if (secret === undefined) return Option.none()
        const now = yield* Clock.currentTimeMillis
        const [row] = yield* Tenant.directory(sql)(sql<SessionRow>`
          update console_session session
          set last_used_at = ${unattended ? sql`session.last_used_at` : sql`${new Date(now)}`}
          from admin join organization on organization.id = admin.organization_id
          where session.digest = ${digest(secret)}
            and admin.organization_id = session.organization_id and admin.id = session.admin_id and ${live(now)}
            ${site.organizationId === null ? sql`` : sql`and session.organization_id = ${site.organizationId}`}
          returning session.id, session.organization_id, organization.name as organization_name,
            organization.closed_at is not null as closed, admin.id as admin_id,
            coalesce(admin.name, admin.email) as admin_name, admin.email, admin.role, admin.archive_access`)
        return Option.map(Option.fromUndefinedOr(row), (found) => ({
          sessionId: found.id,
          organizationId: found.organization_id,
          organizationName: found.organization_name,
          organizationClosed: found.closed,
          adminId: found.admin_id,
          adminName: found.admin_name,
          email: found.email,
          role: found.role,
          readsArchive: readsArchive(found.role, found.archive_access)
        }))
      }),

      start: Effect.fnUntraced(function*(admin, visit, { details = {}, factor, since }) {
        const { adminId, organizationId } = admin
        const { cookies, site } = visit
        const now = new Date(yield* Clock.currentTimeMillis)
        const secret = yield* newSecret
        const known = Redacted.make(yield* newSecret)
        const id = yield* random.uuidV7()
        const before = { session: secretOf(cookies, site), browser: browser(cookies, site) }
        if (before.session !== undefined) {
          yield* Tenant.directory(sql)(sql`delete from console_session where digest = ${digest(before.session)}`)
        }
        if (before.browser !== null) yield* Tenant.directory(sql)(KnownBrowsers.renew(sql, before.browser, known))
        yield* Tenant.transaction(sql, organizationId)(Effect.gen(function*() {
          yield* hold(admin)
          if (factor === null && (yield* Factors.asked(sql, admin))) {
            return yield* Effect.die(new Error("A console session without the second factor that it needs"))
          }
          if (!(yield* mayStart(admin, factor, details))) return yield* overtaken
          const [found] = yield* sql<{ name: string; known_since: Date | null }>`
            select coalesce(name, email) as name, (
              select known_since from known_browser
              where known_browser.organization_id = ${organizationId} and admin_id = ${adminId}
                and digest = ${browserDigest(known)}) as known_since
            from admin where organization_id = ${organizationId} and id = ${adminId}`
          const knownSince = found?.known_since ?? null
          yield* post(sql`insert into console_session ${
            sql.insert({
              organization_id: organizationId,
              id,
              admin_id: adminId,
              digest: digest(secret),
              created_at: since,
              last_used_at: now,
              address: visit.ip,
              browser: browserName(visit.userAgent),
              factor,
              factor_at: factor === null ? null : now,
              long_known: knownSince !== null && now.getTime() - knownSince.getTime() >= knownLong
            })
          }`)
          const group = visit.ip === null ? null : addressGroup(visit.ip)
          yield* KnownBrowsers.remember(sql, admin, known, group, now)
          yield* Effect.provideService(PasswordFailures.flush(sql, admin, now), Journal, journal)
          yield* journaled(
            { ...admin, adminName: found?.name ?? null, sessionId: id },
            "console.signed_in",
            visit,
            {
              ...details,
              browser: browserName(visit.userAgent),
              known_browser: knownSince !== null,
              ...(factor === null ? {} : { second_factor: factor })
            }
          )
        }))
        return cookiesFor(site, secret, known)
      }),

      end: Effect.fnUntraced(function*(admin, visit) {
        const { organizationId, sessionId } = admin
        yield* Tenant.transaction(sql, organizationId)(Effect.gen(function*() {
          const ended = yield* sql`
            delete from console_session where organization_id = ${organizationId} and id = ${sessionId} returning id`
          if (ended.length > 0) yield* journaled(admin, "console.signed_out", visit, {})
        }))
        return setCookie(visit.site, cookieName(visit.site), "", Duration.zero)
      }),

      browser,

      list: Effect.fnUntraced(function*({ adminId, organizationId, sessionId }) {
        const now = yield* Clock.currentTimeMillis
        return yield* Tenant.transaction(sql, organizationId, { access: "read" })(sql<ListedSession>`
          select session.id, session.id = ${sessionId} as current, session.created_at as "createdAt",
            last_used_at as "lastUsedAt", address, browser
          from console_session session
          join admin on admin.organization_id = session.organization_id and admin.id = admin_id
          where session.organization_id = ${organizationId} and admin_id = ${adminId} and ${live(now)}
          order by last_used_at desc, session.id desc limit ${sessionsListed}`)
      }),

      endOther: Effect.fnUntraced(function*(admin, id, visit) {
        const { adminId, organizationId, sessionId } = admin
        return yield* Tenant.transaction(sql, organizationId)(Effect.gen(function*() {
          const others = id === "all"
            ? yield* Endings.endSessions(sql, organizationId, adminId, sessionId)
            : (yield* sql`
              delete from console_session
              where organization_id = ${organizationId} and admin_id = ${adminId} and id <> ${sessionId}
                and id = ${id}::uuid
              returning id`).length
          if (others > 0) yield* journaled(admin, "console.signed_out", visit, { others })
          return others
        }))
      }),

      renew: Effect.fnUntraced(function*({ adminId, organizationId, sessionId }, { cookies, ip, site }) {
        const now = new Date(yield* Clock.currentTimeMillis)
        const secret = yield* newSecret
        const known = Redacted.make(yield* newSecret)
        const before = browser(cookies, site)
        if (before !== null) yield* Tenant.directory(sql)(KnownBrowsers.renew(sql, before, known))
        yield* Tenant.transaction(sql, organizationId)(Effect.andThen(
          sql`
            update console_session set digest = ${digest(secret)}, created_at = ${now}, last_used_at = ${now}
            where organization_id = ${organizationId} and admin_id = ${adminId} and id = ${sessionId}`,
          KnownBrowsers.remember(sql, { adminId, organizationId }, known, ip === null ? null : addressGroup(ip), now)
        ))
        return cookiesFor(site, secret, known)
      }),

      notices: (admin, cookies, site) => {
        const secret = browser(cookies, site)
        return secret === null
          ? Effect.succeed({ notices: [], more: false })
          : Effect.provideService(Notices.take(admin, browserDigest(secret)), SqlClient.SqlClient, sql)
      },

      csrf: (sessionId, form) => hmac(keys[0], text(sessionId, form)),

      verifyCsrf: (sessionId, form, token) => keys.some((key) => sameText(hmac(key, text(sessionId, form)), token)),

      verifyPassword: (admin, password, ip) =>
        passwords.verify(admin, password, {
          via: "console",
          ip,
          requestId: null,
          credential: { kind: "console", id: admin.sessionId }
        })
    })
  })
)

/** Forgets the sessions that have ended by themselves. */
export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  yield* Tenant.directory(sql)(sql`
    delete from console_session
    where last_used_at <= ${new Date(now - Duration.toMillis(consoleSessionIdle))}
      or created_at <= ${new Date(now - Duration.toMillis(consoleSessionLifetime))}`)
})
