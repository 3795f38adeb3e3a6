/** The mails of what a step has found. */
import type { AccountId } from "../domain/accounts/Account.ts"
import * as Mail from "../domain/mail/index.ts"
import type { Mail as Letter } from "../domain/mail/Mail.ts"
import type { EngineMail, Signal, SignalCode, TakeoverResponse } from "../domain/protection/Decision.ts"
import type { WatchedSession } from "../domain/protection/Facts.ts"

/** The facts of an account that its mails contain besides the findings. */
export interface MailedAccount {
  readonly account: { readonly id: AccountId; readonly name: string }
  readonly twoFaManaged: boolean
  /** The session of an id, as it was listed. */
  session(id: string): Omit<WatchedSession, "record_id"> | undefined
}

const changes: { readonly [Code in Exclude<SignalCode, "T7">]: Mail.OutsideChange } = {
  T1: "two_fa",
  T2: "email",
  T3: "phone_number",
  T4: "passkey",
  T5: "sessions_ended",
  T6: "session_revoked"
}

const changed = (signals: ReadonlyArray<Signal>): ReadonlyArray<Mail.OutsideChange> => [
  ...new Set(signals.flatMap(({ code }) => code === "T7" ? [] : [changes[code]]))
]

const lockdowns = { sign_out: "on", queued: "waiting", none: "off" } as const satisfies {
  readonly [Response in TakeoverResponse]: string
}

const unknown = { device_model: null, app_name: null, ip: null, country: null, created_at: null }

/** The mail of what was found about an account. */
export const mailOf = (mail: EngineMail, { account, session, twoFaManaged }: MailedAccount): Letter => {
  switch (mail.kind) {
    case "session.detected":
      return Mail.sessionDetected({
        account,
        session: session(mail.session.id) ?? unknown,
        deadline: mail.deadline
      })
    case "session.autokilled":
      return Mail.sessionAutokilled({ account, session: session(mail.session.id) ?? unknown })
    case "outside_change.detected":
      return Mail.outsideChangeDetected({ account, changes: changed(mail.signals) })
    case "login.attempted":
      return Mail.loginAttempted({ account })
    case "takeover.detected":
      return Mail.takeoverDetected({
        account,
        changes: changed(mail.signals),
        lockdown: lockdowns[mail.response]
      })
    case "takeover.stopped":
      return Mail.takeoverStopped({ account, signedOut: mail.ended, twoFaManaged })
    case "monitoring.lost":
      return Mail.monitoringLost({
        account,
        reason: mail.error === "key_duplicated" || mail.error === "no_key" ? "key_lost" : "unreachable"
      })
    case "protection.stopped":
      return Mail.protectionStopped({ account, reason: mail.reason })
    case "two_fa.lost":
      return Mail.twoFaLost({ account })
    case "paired_session.lost":
      return Mail.pairedSessionLost({ account })
  }
}
