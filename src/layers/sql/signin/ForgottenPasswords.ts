import { Clock, Duration, Effect, Exit, Layer, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { ServiceUnavailable, TooManyAttempts } from "../../../domain/Failure.ts"
import { external } from "../../../domain/journal/Actor.ts"
import { journalAction, journalEntry } from "../../../domain/journal/JournalEntry.ts"
import {
  freeResetRequests,
  maxEmailLength,
  passwordResetPause,
  passwordResetsPerAdmin,
  passwordResetsPerOrganization,
  resetRequestsRetry,
  resetRequestsWaiting
} from "../../../domain/Limits.ts"
import { passwordReplaced, passwordReset } from "../../../domain/mail/AdminMails.ts"
import { Journal } from "../../../ports/journal/Journal.ts"
import { Outbox } from "../../../ports/mail/Outbox.ts"
import { resetLink } from "../../../ports/signin/ConsoleAddress.ts"
import { type AdminRef, type Attempt, ConsolePasswords } from "../../../ports/signin/ConsolePasswords.ts"
import type { CookieSite } from "../../../ports/signin/ConsoleSessions.ts"
import { ForgottenPasswords, type OpenReset } from "../../../ports/signin/ForgottenPasswords.ts"
import { PasswordResets } from "../../../ports/signin/PasswordResets.ts"
import { ResetTokens } from "../../crypto/signin/LinkTokens.ts"
import { Vault } from "../../crypto/Vault.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as Endings from "../credentials/CredentialEndings.ts"
import { isOpen } from "../organization/Organizations.ts"
import { maySignInHere } from "./IdentityProviders.ts"
import { browserDigest } from "./KnownBrowsers.ts"
import * as LinkThrottle from "./LinkThrottle.ts"
import { countAll, makeTurns } from "./PasswordThrottle.ts"

/** A request as it waits. */
const Request = Schema.Struct({
  organization: Schema.String,
  email: Schema.String,
  /** The configured address of the site that was asked. */
  baseUrl: Schema.String,
  ip: Schema.NullOr(Schema.String),
  requestId: Schema.NullOr(Schema.String),
  browser: Schema.NullOr(Schema.String)
})
type Request = typeof Request.Type

const RequestText = Schema.fromJsonString(Request)
const encode = Schema.encodeSync(RequestText)
const decode = Schema.decodeUnknownEffect(RequestText)

/** The context that a request is sealed for. */
const sealedFor = (id: string): ReadonlyArray<string> => ["password_reset_request", id]

const day = Duration.toMillis(Duration.days(1))

/**
 * Holds for an admin who may sign in by a password: the organization was not wound down, and nobody has to come by its
 * identity provider instead.
 */
const active = (sql: SqlClient.SqlClient) =>
  sql`joined_at is not null and disabled_at is null and removed_at is null and ${maySignInHere(sql)}
    and ${isOpen(sql)}`

/** Requests and links in the database. */
export const layer = Layer.effect(
  ForgottenPasswords,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const random = yield* SecureRandom.SecureRandom
    const vault = yield* Vault
    const tokens = yield* ResetTokens
    const passwords = yield* ConsolePasswords
    const journal = yield* Journal
    const outbox = yield* Outbox
    const turns = makeTurns()

    const find = Effect.fnUntraced(function*(token: Redacted.Redacted, { organizationId }: CookieSite) {
      if (!tokens.isWellFormed(token)) return null
      const now = new Date(yield* Clock.currentTimeMillis)
      const [found] = yield* Tenant.directory(sql)(sql<OpenReset>`
        select organization.id as "organizationId", organization.name as "organizationName", admin.id as "adminId", email
        from password_reset
        join admin on admin.organization_id = password_reset.organization_id and admin.id = admin_id
        join organization on organization.id = admin.organization_id
        where ${sql.in("digest", tokens.digests(token))} and expires_at > ${now} and ${active(sql)}
          and (${organizationId}::text is null or organization.id = ${organizationId})`)
      return found ?? null
    })

    const look: ForgottenPasswords["Service"]["look"] = (token, site, attempt) =>
      LinkThrottle.counted(sql, attempt)(find(token, site))

    /** Uses the link up; false if it was used or has expired meanwhile. */
    const use = Effect.fnUntraced(function*(
      { adminId, email, organizationId }: OpenReset,
      token: Redacted.Redacted,
      hash: Redacted.Redacted,
      { ip, requestId }: Attempt
    ) {
      const now = new Date(yield* Clock.currentTimeMillis)
      return yield* Tenant.transaction(sql, organizationId)(Effect.gen(function*() {
        yield* Endings.lockConnections(sql, organizationId, adminId)
        const held = yield* sql`
          select 1 from admin
          where organization_id = ${organizationId} and id = ${adminId} and ${active(sql)}
          for no key update`
        const open = yield* sql`
          select 1 from password_reset
          where organization_id = ${organizationId} and admin_id = ${adminId}
            and ${sql.in("digest", tokens.digests(token))} and expires_at > ${now}`
        if (held.length === 0 || open.length === 0) return false
        const ended = yield* passwords.set({ organizationId, adminId }, hash, now)
        yield* journal.append(
          organizationId,
          journalEntry(
            { type: "admin", adminId, name: email, credential: null },
            { via: "console", ip, requestId },
            journalAction("admin.password_set"),
            { targetId: adminId, details: { ...ended, by_link: true } }
          )
        )
        yield* outbox.add(organizationId, "event", passwordReplaced({ adminId, at: now, ip }))
        return true
      }))
    })

    return ForgottenPasswords.of({
      available: outbox.available,

      request: Effect.fnUntraced(function*({ email, organization }, { baseUrl, organizationId }, attempt) {
        yield* countAll(sql, [LinkThrottle.counterOf("reset", attempt, freeResetRequests)])
        const now = new Date(yield* Clock.currentTimeMillis)
        const id = yield* random.uuidV7()
        const text = encode({
          organization: (organizationId ?? organization).slice(0, maxEmailLength),
          email: email.slice(0, maxEmailLength + 1),
          baseUrl,
          ip: attempt.ip,
          requestId: attempt.requestId,
          browser: attempt.browser ? browserDigest(attempt.browser) : null
        })
        const { address, network } = LinkThrottle.originOf(attempt)
        const [queue] = yield* Tenant.directory(sql)(sql<{ of_address: number; kept: boolean }>`
          with waiting as (
            select count(*) as of_all, count(*) filter (where address = ${address}) as of_address,
              count(*) filter (where network = ${network}) as of_network
            from password_reset_request
          ), most as (
            select network, count(*) as requests from password_reset_request
            group by network order by requests desc, network limit 1
          ), displaced as (
            delete from password_reset_request
            where id = (
                select id from password_reset_request join most using (network) order by created_at desc, id desc limit 1)
              and exists (
                select 1 from waiting, most
                where of_all >= ${resetRequestsWaiting} and of_address < ${freeResetRequests}
                  and requests > of_network + 1)
            returning id
          ), kept as (
            insert into password_reset_request (id, request_sealed, created_at, address, network)
            select ${id}::uuid, ${vault.seal(Redacted.make(text), sealedFor(id))}::text, ${now}::timestamptz,
              ${address}::text, ${network}::text
            from waiting
            where of_address < ${freeResetRequests}
              and (of_all < ${resetRequestsWaiting} or exists (select 1 from displaced))
            returning id
          )
          select of_address, exists (select 1 from kept) as kept from waiting`)
        if (queue?.kept === true) return
        return yield* (queue?.of_address ?? 0) < freeResetRequests
          ? new ServiceUnavailable()
          : new TooManyAttempts({
            retry_after: Duration.toSeconds(resetRequestsRetry),
            message: "Too many requests from your address: wait a minute."
          })
      }),

      look,

      set: (token, password, site, attempt) =>
        Effect.gen(function*() {
          const found = yield* look(token, site, attempt)
          if (found === null) return null
          const done = yield* turns(found.adminId)(Effect.flatMap(
            passwords.hash(found, password),
            (hash) => use(found, token, hash, attempt)
          ))
          return done ? found : null
        })
    })
  })
)

interface Row {
  readonly id: string
  readonly request_sealed: string
}

const requestsPerRun = 50

interface Sent {
  readonly lately: boolean
  readonly of_admin: number
  readonly of_all: number
}

/**
 * Mails a link to the admin, or none where one has gone out just now, or too many have within a day that strangers
 * asked for. The lock makes two requests of one admin follow each other.
 */
const mail = Effect.fnUntraced(function*(admin: AdminRef, knownBrowser: boolean, request: Request) {
  const sql = yield* SqlClient.SqlClient
  const resets = yield* PasswordResets
  const journal = yield* Journal
  const outbox = yield* Outbox
  const { adminId, organizationId } = admin
  const now = new Date(yield* Clock.currentTimeMillis)
  const paused = new Date(now.getTime() - Duration.toMillis(passwordResetPause))
  const ofStrangers = sql`not known_browser and created_at > ${new Date(now.getTime() - day)}`
  yield* Tenant.transaction(sql, organizationId)(Effect.gen(function*() {
    const held = yield* sql`
      select 1 from admin where organization_id = ${organizationId} and id = ${adminId} and ${active(sql)}
      for no key update`
    if (held.length === 0) return
    const [sent] = yield* sql<Sent>`
      select exists (
          select 1 from password_reset
          where organization_id = ${organizationId} and admin_id = ${adminId} and mailed and created_at > ${paused}
            and digest is not null) as lately,
        (select count(*) from password_reset
          where organization_id = ${organizationId} and admin_id = ${adminId} and mailed and ${ofStrangers}) as of_admin,
        (select count(*) from password_reset
          where organization_id = ${organizationId} and mailed and ${ofStrangers}) as of_all`
    const { lately, of_admin, of_all } = sent ?? { lately: true, of_admin: 0, of_all: 0 }
    const tooMany = of_admin >= passwordResetsPerAdmin || of_all >= passwordResetsPerOrganization
    if (lately || !knownBrowser && tooMany) return
    const { expiresAt, token } = yield* resets.make(admin, { mailed: true, knownBrowser }, now)
    yield* journal.append(
      organizationId,
      journalEntry(
        external,
        { via: "console", ip: request.ip, requestId: request.requestId },
        journalAction("password_reset.requested"),
        { targetId: adminId, details: { known_browser: knownBrowser } }
      )
    )
    yield* outbox.add(
      organizationId,
      "event",
      passwordReset({ adminId, link: resetLink(request.baseUrl, token), expiresAt })
    )
  }))
})

/** The admin of a request, and whether it came from a browser that they have signed in with. */
const find = Effect.fnUntraced(function*({ browser, email, organization }: Request) {
  const sql = yield* SqlClient.SqlClient
  // PostgreSQL has no text with a NUL in it, and so no admin of such a name.
  if (`${organization}${email}`.includes("\u0000")) return []
  return yield* Tenant.directory(sql)(sql<AdminRef & { readonly known: boolean }>`
    select organization_id as "organizationId", id as "adminId", exists (
      select 1 from known_browser
      where known_browser.organization_id = admin.organization_id and admin_id = admin.id
        and digest = ${browser}) as known
    from admin
    where organization_id = ${organization} and lower(email collate "C") = ${email.toLowerCase()}
      and ${active(sql)}`)
})

/**
 * Takes the requests that wait, those of networks with few of them first; one that two processes take leads to one
 * mail, for the second is too soon.
 */
export const mailRequested = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const rows = yield* Tenant.ask<Row>(
    sql,
    `select id, request_sealed from password_reset_request
    order by count(*) over (partition by network), created_at, id limit ${requestsPerRun}`,
    []
  )
  for (const { id, request_sealed } of rows) {
    // A request that was sealed under a pepper that is no longer given is dropped: the admin has to ask again.
    const opened = yield* Effect.exit(Effect.flatMap(
      vault.open(request_sealed, sealedFor(id)),
      (text) => decode(Redacted.value(text))
    ))
    if (Exit.isSuccess(opened)) {
      const request = opened.value
      for (const { known, ...admin } of yield* find(request)) yield* mail(admin, known, request)
    }
    yield* Tenant.directory(sql)(sql`delete from password_reset_request where id = ${id}`)
  }
})

/** Deletes links that no limit counts any more, and requests that were not handled for as long. */
export const sweep = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const before = new Date((yield* Clock.currentTimeMillis) - day)
  yield* Tenant.directory(sql)(sql`delete from password_reset where created_at <= ${before}`)
  yield* Tenant.directory(sql)(sql`delete from password_reset_request where created_at <= ${before}`)
})
