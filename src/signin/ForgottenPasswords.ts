/** Forgotten passwords: requests for links, which the background mails, and new passwords by them. */
import { Duration, Effect, Layer, Redacted } from "effect"
import { ServiceUnavailable, TooManyAttempts } from "../domain/Failure.ts"
import { external } from "../domain/journal/Actor.ts"
import {
  freeResetRequests,
  maxEmailLength,
  passwordResetPause,
  passwordResetsPerAdmin,
  passwordResetsPerOrganization,
  resetRequestsRetry
} from "../domain/Limits.ts"
import { passwordReplaced, passwordReset } from "../domain/mail/AdminMails.ts"
import { before, now } from "../domain/Moments.ts"
import { CredentialEndings } from "../ports/credentials/CredentialEndings.ts"
import { Db } from "../ports/Db.ts"
import { Outbox } from "../ports/mail/Outbox.ts"
import { resetLink } from "../ports/signin/ConsoleAddress.ts"
import { type AdminRef, type Attempt, ConsolePasswords } from "../ports/signin/ConsolePasswords.ts"
import { ForgottenPasswords, type OpenReset } from "../ports/signin/ForgottenPasswords.ts"
import { PasswordResets } from "../ports/signin/PasswordResets.ts"
import { type ResetRequest, ResetRequests } from "../ports/signin/ResetRequests.ts"
import { SignInSecrets } from "../ports/signin/SignInSecrets.ts"
import { recorder } from "./SignInEntries.ts"
import { makeTurns, throttle } from "./Throttle.ts"

export const layer = Layer.effect(
  ForgottenPasswords,
  Effect.gen(function*() {
    const db = yield* Db
    const endings = yield* CredentialEndings
    const resets = yield* PasswordResets
    const requests = yield* ResetRequests
    const passwords = yield* ConsolePasswords
    const outbox = yield* Outbox
    const { digest } = yield* SignInSecrets
    const { count, counterOf, countLink, originOf } = yield* throttle
    const record = yield* recorder
    const turns = makeTurns()

    const look: ForgottenPasswords["Service"]["look"] = (token, { organizationId }, attempt) =>
      countLink(attempt, resets.find(token, organizationId))

    /** Uses the link up; false if it was used or has expired meanwhile. */
    const use = Effect.fnUntraced(function*(
      { adminId, email, organizationId }: OpenReset,
      token: Redacted.Redacted,
      hash: Redacted.Redacted,
      { ip, requestId }: Attempt
    ) {
      const at = yield* now
      const admin = { organizationId, adminId }
      return yield* db.transaction(
        organizationId,
        Effect.gen(function*() {
          yield* endings.lockConnections(admin)
          const held = yield* resets.lockAdmin(admin)
          const open = yield* resets.isOpen(admin, token, at)
          if (!held || !open) return false
          const ended = yield* passwords.set(admin, hash, at)
          yield* record(
            { type: "admin", adminId, name: email, credential: null },
            admin,
            { ip, requestId },
            "admin.password_set",
            { ...ended, by_link: true },
            passwordReplaced({ adminId, at, ip })
          )
          return true
        })
      )
    })

    return ForgottenPasswords.of({
      available: outbox.available,

      request: Effect.fnUntraced(function*({ email, organization }, { baseUrl, organizationId }, attempt) {
        yield* count([counterOf("reset", attempt, freeResetRequests)])
        const { kept, ofAddress } = yield* requests.add({
          organization: (organizationId ?? organization).slice(0, maxEmailLength),
          email: email.slice(0, maxEmailLength + 1),
          baseUrl,
          ip: attempt.ip,
          requestId: attempt.requestId,
          browser: attempt.browser ? digest(Redacted.value(attempt.browser)) : null
        }, originOf(attempt))
        if (kept) return
        return yield* ofAddress < freeResetRequests
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

/**
 * Mails a link to the admin, or none where one has gone out just now, or too many have within a day that strangers
 * asked for. The lock makes two requests of one admin follow each other.
 */
const mailLink = Effect.fnUntraced(function*(admin: AdminRef, knownBrowser: boolean, request: ResetRequest) {
  const db = yield* Db
  const resets = yield* PasswordResets
  const record = yield* recorder
  const at = yield* now
  yield* db.transaction(
    admin.organizationId,
    Effect.gen(function*() {
      if (!(yield* resets.lockAdmin(admin))) return
      const { lately, of_admin, of_all } = yield* resets.countMailed(admin, before(at, passwordResetPause), at)
      const tooMany = of_admin >= passwordResetsPerAdmin || of_all >= passwordResetsPerOrganization
      if (lately || !knownBrowser && tooMany) return
      const { expiresAt, token } = yield* resets.make(admin, { mailed: true, knownBrowser }, at)
      yield* record(
        external,
        admin,
        request,
        "password_reset.requested",
        { known_browser: knownBrowser },
        passwordReset({ adminId: admin.adminId, link: resetLink(request.baseUrl, token), expiresAt })
      )
    })
  )
})

/** Takes the requests that wait; one that two processes take leads to one mail, for the second is too soon. */
export const mailRequested = Effect.gen(function*() {
  const requests = yield* ResetRequests
  for (const { id, request } of yield* requests.list) {
    // A request that was sealed under a pepper that is no longer given is dropped: the admin has to ask again.
    const found = request === null ? null : yield* requests.findAdmin(request)
    if (request !== null && found !== null) yield* mailLink(found.admin, found.known, request)
    yield* requests.remove(id)
  }
})
