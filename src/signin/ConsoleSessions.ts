/** Console sessions, by the digest of a cookie. */
import { Effect, Layer, Option, Redacted } from "effect"
import { ServiceUnavailable } from "../domain/Failure.ts"
import * as Actor from "../domain/journal/Actor.ts"
import { browserKnownLong, consoleSessionLifetime, knownBrowserLifetime } from "../domain/Limits.ts"
import { before, now } from "../domain/Moments.ts"
import { addressGroup } from "../domain/NetworkAddress.ts"
import { browserName } from "../domain/signin/BrowserName.ts"
import { CredentialEndings } from "../ports/credentials/CredentialEndings.ts"
import { Db } from "../ports/Db.ts"
import type { Journal } from "../ports/journal/Journal.ts"
import { AdminStanding } from "../ports/signin/AdminStanding.ts"
import { type AdminRef, ConsolePasswords } from "../ports/signin/ConsolePasswords.ts"
import { ConsoleSessionRecords } from "../ports/signin/ConsoleSessionRecords.ts"
import { ConsoleSessions, type CookieSite, type SessionVisit } from "../ports/signin/ConsoleSessions.ts"
import { FactorRecords } from "../ports/signin/FactorRecords.ts"
import type { FailedPasswords } from "../ports/signin/FailedPasswords.ts"
import { KnownBrowsers } from "../ports/signin/KnownBrowsers.ts"
import { FormSignatures, SignInSecrets } from "../ports/signin/SignInSecrets.ts"
import { makeCookie } from "./Cookies.ts"
import { flush } from "./FailedSignIns.ts"
import { recorder } from "./SignInEntries.ts"

const sessionCookie = makeCookie("console", consoleSessionLifetime)
const browserCookie = makeCookie("console-browser", knownBrowserLifetime)

/** The basis of the sign-in was removed while it was under way: a new sign-in meets the current requirements. */
export const overtaken = new ServiceUnavailable({
  message: "What you sign in with was changed meanwhile. Sign in again.",
  retry_after: 1
})

export const layer = Layer.effect(
  ConsoleSessions,
  Effect.gen(function*() {
    const db = yield* Db
    const browsers = yield* KnownBrowsers
    const endings = yield* CredentialEndings
    const factors = yield* FactorRecords
    const passwords = yield* ConsolePasswords
    const sessions = yield* ConsoleSessionRecords
    const standing = yield* AdminStanding
    const { digest, newSecret } = yield* SignInSecrets
    const { isSigned, sign } = yield* FormSignatures
    const record = yield* recorder
    const failures = yield* Effect.context<FailedPasswords | Journal>()
    const text = (sessionId: string, form: string) => JSON.stringify([sessionId, form])

    /** New secrets for session and browser, of which the browser's takes the place of the one before. */
    const newSecrets = Effect.fnUntraced(function*({ cookies, site }: Pick<SessionVisit, "cookies" | "site">) {
      const session = yield* newSecret
      const browser = yield* newSecret
      const known = digest(browser)
      const set = [sessionCookie.set(site, session), browserCookie.set(site, browser)]
      const old = browserCookie.read(cookies, site)
      const renewed = old === undefined ? Effect.void : browsers.renew(digest(old), known)
      return { session: digest(session), known, renewed, set }
    })

    const remember = (admin: AdminRef, known: string, ip: string | null, at: Date) =>
      browsers.remember(admin, known, ip === null ? null : addressGroup(ip), at)

    const browser = (cookies: string | undefined, site: CookieSite) => {
      const secret = browserCookie.read(cookies, site)
      return secret === undefined ? null : Redacted.make(secret)
    }

    return ConsoleSessions.of({
      current: Effect.fnUntraced(function*(cookies, site, unattended = false) {
        const secret = sessionCookie.read(cookies, site)
        if (secret === undefined) return Option.none()
        return Option.fromNullishOr(yield* sessions.find(digest(secret), site.organizationId, !unattended))
      }),

      start: Effect.fnUntraced(function*(admin, visit, { details = {}, factor, since }) {
        const { cookies, ip, site } = visit
        const at = yield* now
        const secrets = yield* newSecrets(visit)
        const earlier = sessionCookie.read(cookies, site)
        if (earlier !== undefined) yield* sessions.endBefore(digest(earlier))
        yield* secrets.renewed
        yield* db.transaction(
          admin.organizationId,
          Effect.gen(function*() {
            yield* standing.hold(admin)
            if (factor === null && (yield* factors.isAsked(admin))) {
              return yield* Effect.die(new Error("A console session without the second factor that it needs"))
            }
            if (!(yield* standing.mayStart(admin, factor, details))) return yield* overtaken
            const { knownSince, name } = yield* standing.nameAndBrowser(admin, secrets.known)
            const sessionId = yield* sessions.add(admin, {
              digest: secrets.session,
              since,
              now: at,
              address: ip,
              browser: browserName(visit.userAgent),
              factor,
              longKnown: knownSince !== null && knownSince <= before(at, browserKnownLong)
            })
            yield* remember(admin, secrets.known, ip, at)
            yield* Effect.provideContext(flush(admin, at), failures)
            yield* record(
              Actor.signedIn({ ...admin, adminName: name, sessionId }),
              admin,
              visit,
              "console.signed_in",
              {
                ...details,
                browser: browserName(visit.userAgent),
                known_browser: knownSince !== null,
                ...(factor === null ? {} : { second_factor: factor })
              }
            )
          })
        )
        return secrets.set
      }),

      end: Effect.fnUntraced(function*(admin, visit) {
        yield* db.transaction(
          admin.organizationId,
          Effect.gen(function*() {
            const ended = yield* sessions.end(admin, admin.sessionId, null)
            if (ended > 0) yield* record(Actor.signedIn(admin), admin, visit, "console.signed_out", {})
          })
        )
        return sessionCookie.forget(visit.site)
      }),

      browser,

      list: (admin) => db.read(admin.organizationId, sessions.list(admin)),

      endOther: (admin, id, visit) =>
        db.transaction(
          admin.organizationId,
          Effect.gen(function*() {
            const others = id === "all"
              ? yield* endings.endSessions(admin, admin.sessionId)
              : yield* sessions.end(admin, id, admin.sessionId)
            if (others > 0) yield* record(Actor.signedIn(admin), admin, visit, "console.signed_out", { others })
            return others
          })
        ),

      renew: Effect.fnUntraced(function*(admin, visit) {
        const at = yield* now
        const secrets = yield* newSecrets(visit)
        yield* secrets.renewed
        yield* db.transaction(
          admin.organizationId,
          Effect.andThen(
            sessions.renew(admin, secrets.session, at),
            remember(admin, secrets.known, visit.ip, at)
          )
        )
        return secrets.set
      }),

      notices: (admin, cookies, site) => {
        const secret = browserCookie.read(cookies, site)
        return secret === undefined
          ? Effect.succeed({ notices: [], more: false })
          : browsers.takeNotices(admin, digest(secret))
      },

      csrf: (sessionId, form) => sign(text(sessionId, form)),

      verifyCsrf: (sessionId, form, token) => isSigned(text(sessionId, form), token),

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
