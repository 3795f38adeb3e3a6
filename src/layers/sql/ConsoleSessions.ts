import { Clock, Duration, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as crypto from "node:crypto"
import { type OrganizationId, readsArchive, type Role } from "../../domain/Access.ts"
import { consoleSessionIdle, consoleSessionLifetime } from "../../domain/Limits.ts"
import { ConsoleSessions, type CookieSite } from "../../oauth/ConsoleSessions.ts"
import { ConsolePasswords } from "../../operations/ConsolePasswords.ts"
import { CsrfKeys } from "../crypto/CsrfKeys.ts"
import { hmac } from "../crypto/Peppers.ts"
import * as Tenant from "./Tenant.ts"

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

const isSecure = ({ baseUrl }: CookieSite): boolean => baseUrl.startsWith("https:")

/** Browsers refuse the prefix, and `Secure`, over plain http, which is for a machine's own loopback. */
const cookieName = (site: CookieSite): string => isSecure(site) ? "__Host-console" : "console"

const setCookie = (site: CookieSite, value: string, age: Duration.Duration): string =>
  [
    `${cookieName(site)}=${value}`,
    "Path=/",
    `Max-Age=${Duration.toSeconds(age)}`,
    ...(isSecure(site) ? ["Secure"] : []),
    "HttpOnly",
    "SameSite=Lax"
  ].join("; ")

/** The session's secret in a Cookie header; none where the name stands twice, for one of the two was planted. */
const secretOf = (cookies: string | undefined, site: CookieSite): string | undefined => {
  const start = `${cookieName(site)}=`
  const found = (cookies ?? "").split(";").map((part) => part.trim()).filter((part) => part.startsWith(start))
  return found.length === 1 ? found[0]?.slice(start.length) : undefined
}

const digest = (secret: string): string => crypto.createHash("sha256").update(secret).digest("hex")

const sameText = (one: string, other: string): boolean =>
  one.length === other.length && crypto.timingSafeEqual(Buffer.from(one), Buffer.from(other))

/** Sessions in the database, by the digest of a cookie; each use is written, so that idleness is exact. */
export const layer = Layer.effect(
  ConsoleSessions,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const random = yield* SecureRandom.SecureRandom
    const keys = yield* CsrfKeys
    const passwords = yield* ConsolePasswords
    const text = (sessionId: string, form: string) => JSON.stringify([sessionId, form])

    const forget = (cookies: string | undefined, site: CookieSite) => {
      const secret = secretOf(cookies, site)
      return secret === undefined
        ? Effect.void
        : Tenant.directory(sql)(sql`delete from console_session where digest = ${digest(secret)}`)
    }

    return ConsoleSessions.of({
      current: Effect.fnUntraced(function*(cookies, site) {
        const secret = secretOf(cookies, site)
        if (secret === undefined) return Option.none()
        const now = yield* Clock.currentTimeMillis
        const [row] = yield* Tenant.directory(sql)(sql<SessionRow>`
          update console_session session set last_used_at = ${new Date(now)}
          from admin join organization on organization.id = admin.organization_id
          where session.digest = ${digest(secret)}
            and session.last_used_at > ${new Date(now - Duration.toMillis(consoleSessionIdle))}
            and session.created_at > ${new Date(now - Duration.toMillis(consoleSessionLifetime))}
            and admin.organization_id = session.organization_id and admin.id = session.admin_id
            and disabled_at is null and (password_changed_at is null or password_changed_at <= session.created_at)
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

      start: Effect.fnUntraced(function*({ adminId, organizationId }, cookies, site) {
        const now = new Date(yield* Clock.currentTimeMillis)
        const secret = Buffer.from(yield* random.randomBytes(32)).toString("base64url")
        const id = yield* random.uuidV7()
        yield* forget(cookies, site)
        yield* Tenant.transaction(sql, organizationId)(sql`insert into console_session ${
          sql.insert({
            organization_id: organizationId,
            id,
            admin_id: adminId,
            digest: digest(secret),
            created_at: now,
            last_used_at: now
          })
        }`)
        return setCookie(site, secret, consoleSessionLifetime)
      }),

      end: (cookies, site) => Effect.as(forget(cookies, site), setCookie(site, "", Duration.zero)),

      csrf: (sessionId, form) => hmac(keys[0], text(sessionId, form)),

      verifyCsrf: (sessionId, form, token) => keys.some((key) => sameText(hmac(key, text(sessionId, form)), token)),

      verifyPassword: (admin, password, ip) =>
        passwords.verify(admin, password, { via: "console", ip, requestId: null })
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
