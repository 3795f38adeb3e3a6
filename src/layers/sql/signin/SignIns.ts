import { Clock, Duration, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, external } from "../../../domain/journal/Actor.ts"
import type { JournalDetails } from "../../../domain/journal/JournalEvent.ts"
import { knownBrowserLifetime, pendingSignInAnswers, pendingSignInLifetime } from "../../../domain/Limits.ts"
import * as Mails from "../../../domain/mail/AdminMails.ts"
import type { OrganizationId } from "../../../domain/people/Access.ts"
import { displaced, type WaitingSignIn } from "../../../domain/signin/PendingSignIns.ts"
import type { AdminRef } from "../../../ports/signin/ConsolePasswords.ts"
import { ConsoleSessions, type CookieSite, type SessionVisit } from "../../../ports/signin/ConsoleSessions.ts"
import { SecondFactorIncorrect } from "../../../ports/signin/SecondFactors.ts"
import { type PendingSignIn, SignInEnded, SignIns } from "../../../ports/signin/SignIns.ts"
import * as Passkeys from "../../crypto/signin/Passkeys.ts"
import * as Tickets from "../../crypto/signin/Tickets.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as Endings from "../credentials/CredentialEndings.ts"
import * as CodeThrottle from "./CodeThrottle.ts"
import { digest, isSecure, overtaken, setCookie, valueOf } from "./ConsoleSessions.ts"
import * as FactorChanges from "./FactorChanges.ts"
import * as Factors from "./Factors.ts"
import { done, tools } from "./FactorTools.ts"
import { maySignInHere } from "./IdentityProviders.ts"
import { browserDigest } from "./KnownBrowsers.ts"
import { clear } from "./PasswordThrottle.ts"

interface Row {
  readonly id: string
  readonly organization_id: OrganizationId
  readonly organization_name: string
  readonly admin_id: string
  readonly admin_name: string
  readonly email: string
}

const cookieName = (site: CookieSite): string => isSecure(site) ? "__Host-console-sign-in" : "console-sign-in"

/** The binding of questions that are put before anybody is known. */
const anyone = "anyone"

/** The admin of a sign-in, who has given the first factor at least. */
const actorOf = ({ adminId, adminName }: PendingSignIn): Actor => ({
  type: "admin",
  adminId,
  name: adminName,
  credential: null
})

/** Pending sign-ins in the database. */
export const layer = Layer.effect(
  SignIns,
  Effect.gen(function*() {
    const sessions = yield* ConsoleSessions
    const { challenge, random, record, recordCodeUse, secrets, sql } = yield* tools

    const forget = (site: CookieSite) => setCookie(site, cookieName(site), "", Duration.zero)

    /** The condition that a sign-in can be completed still. */
    const open = (now: number) =>
      sql`pending.created_at > ${new Date(now - Duration.toMillis(pendingSignInLifetime))}
        and pending.failures < ${pendingSignInAnswers} and admin.disabled_at is null
        and (password_changed_at is null or password_changed_at <= pending.created_at)`

    /** The digest of the browser's secret, where the admin has signed in with it; null for any other. */
    const knownBrowser = Effect.fnUntraced(function*({ adminId, organizationId }: AdminRef, visit: SessionVisit) {
      const browser = sessions.browser(visit.cookies, visit.site)
      if (browser === null) return null
      const since = new Date((yield* Clock.currentTimeMillis) - Duration.toMillis(knownBrowserLifetime))
      const known = yield* Tenant.transaction(sql, organizationId, { access: "read" })(sql`
        select 1 from known_browser
        where organization_id = ${organizationId} and admin_id = ${adminId} and digest = ${browserDigest(browser)}
          and last_used_at > ${since}`)
      return known.length === 0 ? null : browserDigest(browser)
    })

    /** Strangers who have the password share a counter, which a browser that the admin has signed in with does not. */
    const counterOf = Effect.fnUntraced(function*(admin: AdminRef, visit: SessionVisit) {
      const where = (yield* knownBrowser(admin, visit)) ?? "anywhere"
      return CodeThrottle.counterOf("sign-in", admin.organizationId, admin.adminId, where)
    })

    /** Counts an answer before it is checked. */
    const countAnswer = Effect.fnUntraced(function*({ id, organizationId }: PendingSignIn) {
      const now = yield* Clock.currentTimeMillis
      const counted = yield* Tenant.transaction(sql, organizationId)(sql<{ failures: number }>`
        update pending_sign_in pending set failures = failures + 1
        from admin
        where pending.organization_id = ${organizationId} and pending.id = ${id}
          and admin.organization_id = pending.organization_id and admin.id = pending.admin_id and ${open(now)}
        returning failures`)
      return counted[0]?.failures ?? (yield* new SignInEnded())
    })

    /**
     * Locks the sign-in and its admin, so that disabling the admin or setting a password happens before or after it.
     */
    const hold = Effect.fnUntraced(function*({ id, organizationId }: PendingSignIn, now: Date) {
      const [held] = yield* Effect.orDie(sql<{ created_at: Date; details: JournalDetails }>`
        select pending.created_at, pending.details from pending_sign_in pending
        join admin on admin.organization_id = pending.organization_id and admin.id = pending.admin_id
        where pending.organization_id = ${organizationId} and pending.id = ${id}
          and pending.created_at > ${new Date(now.getTime() - Duration.toMillis(pendingSignInLifetime))}
          and admin.disabled_at is null
          and (password_changed_at is null or password_changed_at <= pending.created_at)
        for update of pending for no key update of admin`)
      if (held === undefined) return yield* new SignInEnded()
      return { since: held.created_at, details: held.details }
    })

    return SignIns.of({
      begin: Effect.fnUntraced(function*(admin, visit, { details = {}, factor = null, since }) {
        const { adminId, organizationId } = admin
        const asked = factor === null &&
          (yield* Tenant.transaction(sql, organizationId, { access: "read" })(Factors.asked(sql, admin)))
        if (!asked) {
          const cookies = yield* sessions.start(admin, visit, { since, factor, details })
          return { state: "signed_in", cookies }
        }
        const secret = Buffer.from(yield* random.randomBytes(32)).toString("base64url")
        const id = yield* random.uuidV7()
        const browser = yield* knownBrowser(admin, visit)
        yield* Tenant.transaction(sql, organizationId)(Effect.gen(function*() {
          // Disabling the admin either happens before this, and is seen here, or after it, and ends the session.
          const active = yield* sql`
            select 1 from admin where organization_id = ${organizationId} and id = ${adminId} and disabled_at is null
            for share`
          if (active.length === 0) return yield* overtaken
          yield* sql`insert into pending_sign_in ${
            sql.insert({
              organization_id: organizationId,
              id,
              admin_id: adminId,
              digest: digest(secret),
              created_at: since,
              details: JSON.stringify(details),
              address: visit.ip,
              browser
            })
          }`
          const waiting = yield* sql<WaitingSignIn>`
            select id, address, browser from pending_sign_in
            where organization_id = ${organizationId} and admin_id = ${adminId} order by id desc`
          const given = displaced(waiting)
          if (given.length > 0) {
            yield* sql`delete from pending_sign_in where organization_id = ${organizationId} and ${sql.in("id", given)}`
          }
        }))
        return {
          state: "pending",
          cookies: [setCookie(visit.site, cookieName(visit.site), secret, pendingSignInLifetime)]
        }
      }),

      current: Effect.fnUntraced(function*(cookies, site) {
        const secret = valueOf(cookies, cookieName(site))
        if (secret === undefined) return Option.none()
        const now = yield* Clock.currentTimeMillis
        const [row] = yield* Tenant.directory(sql)(sql<Row>`
          select pending.id, pending.organization_id, organization.name as organization_name, pending.admin_id,
            coalesce(admin.name, admin.email) as admin_name, admin.email
          from pending_sign_in pending
          join admin on admin.organization_id = pending.organization_id and admin.id = pending.admin_id
          join organization on organization.id = admin.organization_id
          where pending.digest = ${digest(secret)} and ${open(now)}
            ${site.organizationId === null ? sql`` : sql`and pending.organization_id = ${site.organizationId}`}`)
        if (row === undefined) return Option.none()
        const [state] = yield* Tenant.transaction(sql, row.organization_id, { access: "read" })(
          sql<{ has: boolean }>`
            select ${Factors.hasOne(sql)} as has from admin
            where organization_id = ${row.organization_id} and id = ${row.admin_id}`
        )
        return Option.some({
          id: row.id,
          organizationId: row.organization_id,
          organizationName: row.organization_name,
          adminId: row.admin_id,
          adminName: row.admin_name,
          email: row.email,
          hasFactor: state?.has ?? false
        })
      }),

      complete: Effect.fnUntraced(function*(pending, answer, visit) {
        const { id, organizationId } = pending
        // A passkey's signature is not guessed: no count of wrong codes keeps it out.
        const counter = answer.kind === "code" ? yield* counterOf(pending, visit) : null
        if (counter !== null) yield* CodeThrottle.count(sql, counter)
        const failures = yield* countAnswer(pending)
        const now = new Date(yield* Clock.currentTimeMillis)
        const where = { subject: id, party: Passkeys.partyOf(visit.site) }
        const proof = yield* Tenant.transaction(sql, organizationId)(Effect.gen(function*() {
          const held = yield* hold(pending, now)
          const factor = yield* Factors.use(sql, secrets, pending, answer, where, now)
          if (factor === null) {
            yield* record(
              external,
              pending,
              visit,
              "second_factor.failed",
              { signed_in: false },
              failures < pendingSignInAnswers ? null : Mails.secondFactorFailed(done(pending, visit, now))
            )
            return null
          }
          yield* Tenant.post(sql)(
            sql`delete from pending_sign_in where organization_id = ${organizationId} and id = ${id}`
          )
          if (factor === "recovery_code") yield* recordCodeUse(actorOf(pending), pending, visit, now)
          return { ...held, factor }
        }))
        if (proof === null) {
          return yield* new SecondFactorIncorrect({
            message: answer.kind === "code"
              ? "This code is incorrect, or was used before."
              : "This passkey is not one of yours, or this took too long: try again."
          })
        }
        if (counter !== null) yield* clear(sql, counter)
        return [...(yield* sessions.start(pending, visit, proof)), forget(visit.site)]
      }),

      setUp: Effect.fnUntraced(function*(pending, factor, visit) {
        const { adminId, id, organizationId } = pending
        const now = new Date(yield* Clock.currentTimeMillis)
        const proved = yield* FactorChanges.prove(secrets, { subject: id }, Passkeys.partyOf(visit.site), factor, now)
        const { codes, held } = yield* Tenant.transaction(sql, organizationId)(Effect.gen(function*() {
          const held = yield* hold(pending, now)
          // An admin who has a factor uses it, and adds others afterwards.
          if (yield* FactorChanges.has(sql, pending)) return yield* new SignInEnded()
          yield* FactorChanges.store(sql, secrets, random, pending, proved, now)
          const codes = yield* FactorChanges.makeCodes(sql, secrets, random, pending, now)
          const ended = yield* Endings.endSessions(sql, organizationId, adminId)
          yield* record(
            actorOf(pending),
            pending,
            visit,
            "second_factor.added",
            { factor: proved.named, sessions: ended },
            Mails.secondFactorAdded({ ...done(pending, visit, now), factor: proved.named })
          )
          return { codes, held }
        }))
        const cookies = yield* sessions.start(pending, visit, { ...held, factor: factor.kind })
        return { cookies: [...cookies, forget(visit.site)], recoveryCodes: codes }
      }),

      askAnyone: Effect.fnUntraced(function*(site) {
        const party = Passkeys.partyOf(site)
        if (party === null) return null
        const made = yield* challenge
        const now = yield* Clock.currentTimeMillis
        return {
          ticket: Tickets.write(secrets.keys, Factors.questionOf(anyone, party), made, now),
          options: yield* Passkeys.request(party, made, [])
        }
      }),

      byPasskey: Effect.fnUntraced(function*(answer, visit) {
        const unknown = () =>
          new SecondFactorIncorrect({ message: "This passkey is not known here, or this took too long: try again." })
        const sent = Option.getOrNull(Passkeys.readAssertion(answer.response))
        if (sent === null || sent.id.includes("\u0000")) return yield* unknown()
        const { site } = visit
        const admins = yield* Tenant.directory(sql)(sql<AdminRef>`
          select passkey.organization_id as "organizationId", admin_id as "adminId" from passkey
          join admin on admin.organization_id = passkey.organization_id and admin.id = admin_id
          where credential_id = ${sent.id} and disabled_at is null and joined_at is not null and ${maySignInHere(sql)}
            ${site.organizationId === null ? sql`` : sql`and passkey.organization_id = ${site.organizationId}`}`)
        const now = new Date(yield* Clock.currentTimeMillis)
        const where = { subject: anyone, party: Passkeys.partyOf(site) }
        for (const admin of admins) {
          const used = yield* Tenant.transaction(sql, admin.organizationId)(Effect.gen(function*() {
            return (yield* FactorChanges.lock(sql, admin)) &&
              (yield* Factors.usePasskey(sql, secrets, admin, answer, where, now)) !== null
          }))
          if (!used) continue
          return yield* sessions.start(admin, visit, {
            since: now,
            factor: "passkey",
            details: { without_password: true }
          })
        }
        return yield* unknown()
      })
    })
  })
)

/** Deletes the sign-ins that were not completed in time. */
export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  yield* Tenant.directory(sql)(sql`
    delete from pending_sign_in where created_at <= ${new Date(now - Duration.toMillis(pendingSignInLifetime))}`)
})
