/** Sign-ins in two steps; one that waits for its second factor is known by a cookie of its own. */
import { Effect, Layer, Option, Redacted } from "effect"
import { type Actor, external } from "../domain/journal/Actor.ts"
import { knownBrowserLifetime, pendingSignInAnswers, pendingSignInLifetime } from "../domain/Limits.ts"
import * as Mails from "../domain/mail/AdminMails.ts"
import { before, now } from "../domain/Moments.ts"
import { displaced } from "../domain/signin/PendingSignIns.ts"
import { CredentialEndings } from "../ports/credentials/CredentialEndings.ts"
import { Db } from "../ports/Db.ts"
import { AdminStanding } from "../ports/signin/AdminStanding.ts"
import type { AdminRef } from "../ports/signin/ConsolePasswords.ts"
import { ConsoleSessions, type SessionVisit } from "../ports/signin/ConsoleSessions.ts"
import { FactorProofs } from "../ports/signin/FactorProofs.ts"
import { FactorRecords } from "../ports/signin/FactorRecords.ts"
import { KnownBrowsers } from "../ports/signin/KnownBrowsers.ts"
import { PendingSignInRecords } from "../ports/signin/PendingSignInRecords.ts"
import { SecondFactorIncorrect } from "../ports/signin/SecondFactors.ts"
import { type PendingSignIn, SignInEnded, SignIns } from "../ports/signin/SignIns.ts"
import { SignInSecrets } from "../ports/signin/SignInSecrets.ts"
import { overtaken } from "./ConsoleSessions.ts"
import { makeCookie } from "./Cookies.ts"
import { factorTools, incorrect } from "./Factors.ts"
import { placeOf, recorder } from "./SignInEntries.ts"
import { throttle } from "./Throttle.ts"

const cookie = makeCookie("console-sign-in", pendingSignInLifetime)

/** The binding of questions that are put before anybody is known. */
const anyone = "anyone"

/** The admin of a sign-in, who has given the first factor at least. */
const actorOf = ({ adminId, adminName }: PendingSignIn): Actor => ({
  type: "admin",
  adminId,
  name: adminName,
  credential: null
})

export const layer = Layer.effect(
  SignIns,
  Effect.gen(function*() {
    const db = yield* Db
    const browsers = yield* KnownBrowsers
    const endings = yield* CredentialEndings
    const factors = yield* FactorRecords
    const proofs = yield* FactorProofs
    const sessions = yield* ConsoleSessions
    const standing = yield* AdminStanding
    const waiting = yield* PendingSignInRecords
    const { digest, newSecret } = yield* SignInSecrets
    const { makeCodes, prove, recordCodeUse, store, use, usePasskey } = yield* factorTools
    const { clear, codesOf, count } = yield* throttle
    const record = yield* recorder

    /** The digest of the browser's secret, where the admin has signed in with it; null for any other. */
    const knownBrowser = Effect.fnUntraced(function*(admin: AdminRef, { cookies, site }: SessionVisit) {
      const secret = sessions.browser(cookies, site)
      if (secret === null) return null
      const browser = digest(Redacted.value(secret))
      const since = before(yield* now, knownBrowserLifetime)
      return (yield* db.read(admin.organizationId, browsers.isKnown(admin, browser, since))) ? browser : null
    })

    /** Strangers who have the password share a counter, which a browser that the admin has signed in with does not. */
    const counterOf = Effect.fnUntraced(function*(admin: AdminRef, visit: SessionVisit) {
      const where = (yield* knownBrowser(admin, visit)) ?? "anywhere"
      return codesOf("sign-in", admin.organizationId, admin.adminId, where)
    })

    /** Locks the sign-in and its admin, so that disabling the admin or setting a password comes before or after it. */
    const hold = Effect.fnUntraced(function*(pending: PendingSignIn, at: Date) {
      return (yield* waiting.lock(pending, at)) ?? (yield* new SignInEnded())
    })

    return SignIns.of({
      begin: Effect.fnUntraced(function*(admin, visit, { details = {}, factor = null, since }) {
        const { organizationId } = admin
        const asked = factor === null && (yield* db.read(organizationId, factors.isAsked(admin)))
        if (!asked) {
          return { state: "signed_in", cookies: yield* sessions.start(admin, visit, { since, factor, details }) }
        }
        const secret = yield* newSecret
        const browser = yield* knownBrowser(admin, visit)
        yield* db.transaction(
          organizationId,
          Effect.gen(function*() {
            // Disabling the admin either happens before this, and is seen here, or after it, and ends the session.
            if (!(yield* standing.share(admin))) return yield* overtaken
            yield* waiting.add(admin, { digest: digest(secret), since, details, address: visit.ip, browser })
            const given = displaced(yield* waiting.list(admin))
            if (given.length > 0) yield* waiting.displace(organizationId, given)
          })
        )
        return { state: "pending", cookies: [cookie.set(visit.site, secret)] }
      }),

      current: Effect.fnUntraced(function*(cookies, site) {
        const secret = cookie.read(cookies, site)
        if (secret === undefined) return Option.none()
        const found = yield* waiting.find(digest(secret), site.organizationId)
        if (found === null) return Option.none()
        return Option.some({ ...found, hasFactor: yield* db.read(found.organizationId, factors.has(found)) })
      }),

      complete: Effect.fnUntraced(function*(pending, answer, visit) {
        const { id, organizationId } = pending
        // A passkey's signature is not guessed: no count of wrong codes keeps it out.
        const counter = answer.kind === "code" ? yield* counterOf(pending, visit) : null
        if (counter !== null) yield* count([counter], "codes")
        const answers = (yield* db.transaction(organizationId, waiting.countAnswer(pending))) ??
          (yield* new SignInEnded())
        const at = yield* now
        const proof = yield* db.transaction(
          organizationId,
          Effect.gen(function*() {
            const held = yield* hold(pending, at)
            const factor = yield* use(pending, answer, id, visit, at)
            if (factor === null) {
              const last = answers >= pendingSignInAnswers
              const mail = last ? Mails.secondFactorFailed(placeOf(pending, visit, at)) : null
              yield* record(external, pending, visit, "second_factor.failed", { signed_in: false }, mail)
              return null
            }
            yield* waiting.complete(pending)
            if (factor === "recovery_code") yield* recordCodeUse(actorOf(pending), pending, visit, at)
            return { ...held, factor }
          })
        )
        if (proof === null) return yield* incorrect(answer)
        if (counter !== null) yield* clear(counter)
        return [...(yield* sessions.start(pending, visit, proof)), cookie.forget(visit.site)]
      }),

      setUp: Effect.fnUntraced(function*(pending, factor, visit) {
        const at = yield* now
        const proved = yield* prove(pending.id, factor, visit, at)
        const { held, recoveryCodes } = yield* db.transaction(
          pending.organizationId,
          Effect.gen(function*() {
            const held = yield* hold(pending, at)
            // An admin who has a factor uses it, and adds others afterwards.
            if (yield* factors.has(pending)) return yield* new SignInEnded()
            yield* store(pending, proved, at)
            const recoveryCodes = yield* makeCodes(pending, at)
            const details = { factor: proved.named, sessions: yield* endings.endSessions(pending) }
            const mail = Mails.secondFactorAdded({ ...placeOf(pending, visit, at), factor: proved.named })
            yield* record(actorOf(pending), pending, visit, "second_factor.added", details, mail)
            return { held, recoveryCodes }
          })
        )
        const cookies = yield* sessions.start(pending, visit, { ...held, factor: factor.kind })
        return { cookies: [...cookies, cookie.forget(visit.site)], recoveryCodes }
      }),

      askAnyone: (site) => {
        const party = proofs.partyOf(site)
        return party === null ? Effect.succeed(null) : proofs.ask(anyone, party, [])
      },

      byPasskey: Effect.fnUntraced(function*(answer, visit) {
        const id = proofs.idOf(answer.response)
        const admins = id === null ? [] : yield* standing.byPasskey(id, visit.site.organizationId)
        const at = yield* now
        const party = proofs.partyOf(visit.site)
        for (const admin of admins) {
          const used = yield* db.transaction(
            admin.organizationId,
            Effect.gen(function*() {
              return (yield* standing.lock(admin)) && (yield* usePasskey(admin, answer, anyone, party, at))
            })
          )
          if (!used) continue
          const proof = { since: at, factor: "passkey", details: { without_password: true } } as const
          return yield* sessions.start(admin, visit, proof)
        }
        return yield* new SecondFactorIncorrect({
          message: "This passkey is not known here, or this took too long: try again."
        })
      })
    })
  })
)
