/** Mails about accounts, as their protection writes them; names and devices in them are text by strangers. */
import type { StopReason } from "../accounts/ProtectionStatus.ts"
import { moment, type Paragraph, quoted } from "./Letter.ts"
import { mailKind } from "./Mail.ts"

/** The account that a mail is about. */
interface AlertedAccount {
  readonly account: { readonly id: string; readonly name: string }
}

/** The known facts of a device that is signed in. */
interface Device {
  readonly device_model: string | null
  readonly app_name: string | null
  readonly ip: string | null
  readonly country: string | null
  readonly created_at: Date | null
}

type AboutSession = AlertedAccount & { readonly session: Device }

const recipients = { to: "recipients", choice: "security" } as const

const accountOf = ({ account }: AlertedAccount): Paragraph => ({
  values: [["Account", quoted(account.name)], ["Id", account.id]]
})

const text = (value: string | null): string => value === null ? "unknown" : quoted(value)

const deviceOf = ({ session }: AboutSession): Paragraph => ({
  values: [
    ["Device", text(session.device_model)],
    ["Application", text(session.app_name)],
    ["Address", text(session.ip)],
    ["Country", text(session.country)],
    ["Signed in", session.created_at === null ? "unknown" : moment(session.created_at)]
  ]
})

export const sessionDetected = mailKind("session_detected", {
  ...recipients,
  when: "Somebody has signed in to an account.",
  write: (facts: AboutSession & { readonly deadline: Date | null }) => ({
    subject: `New sign-in to ${quoted(facts.account.name)}`,
    paragraphs: [
      "Somebody has signed in to a protected account.",
      accountOf(facts),
      deviceOf(facts),
      facts.deadline === null
        ? "It is signed out as soon as the messenger lets the service. Approve it before if it is the holder's."
        : `It is signed out on ${moment(facts.deadline)} unless an admin approves it. Ask the account's holder first.`
    ]
  })
})

export const sessionAutokilled = mailKind("session_autokilled", {
  ...recipients,
  when: "A session that nobody approved was signed out.",
  write: (facts: AboutSession) => ({
    subject: `Signed out: a session of ${quoted(facts.account.name)}`,
    paragraphs: ["A session that nobody had approved was signed out.", accountOf(facts), deviceOf(facts)]
  })
})

/** The changes made outside the console. */
const changes = {
  two_fa: "its two-factor password was changed or removed, or a reset of it was requested",
  email: "its recovery or login e-mail address was changed",
  phone_number: "its phone number was changed",
  passkey: "a passkey was added to it",
  sessions_ended: "several of its sessions were ended from outside within minutes",
  session_revoked: "the service's own session was ended"
}

/** Something of an account that was changed outside the console. */
export type OutsideChange = keyof typeof changes

const changed = (found: ReadonlyArray<OutsideChange>): string =>
  `What was found: ${found.map((change) => changes[change]).join("; ")}.`

export const outsideChangeDetected = mailKind("outside_change_detected", {
  ...recipients,
  when: "The security of an account was changed outside the console.",
  write: (facts: AlertedAccount & { readonly changes: ReadonlyArray<OutsideChange> }) => ({
    subject: `Changed outside the console: ${quoted(facts.account.name)}`,
    paragraphs: [
      "The security of a protected account was changed outside the console.",
      accountOf(facts),
      changed(facts.changes),
      "Ask the account's holder whether they did it."
    ]
  })
})

export const loginAttempted = mailKind("login_attempted", {
  ...recipients,
  when: "Somebody tries to sign in to an account and has not come in yet.",
  write: (facts: AlertedAccount) => ({
    subject: `Somebody tries to sign in to ${quoted(facts.account.name)}`,
    paragraphs: [
      "Somebody tries to sign in to a protected account: a code was sent, or was given already.",
      accountOf(facts),
      "If it is not the holder, tell them to give the code to nobody."
    ]
  })
})

const lockdowns = {
  on: "The other sessions of the account are being signed out, approved ones too.",
  off: "The lockdown is turned off, so that nothing is signed out by itself. Sign strangers out now.",
  waiting: "The messenger does not let the service sign sessions out yet. They are signed out as soon as it does."
}

export const takeoverDetected = mailKind("takeover_detected", {
  ...recipients,
  when: "An account is being taken over.",
  write: (
    facts: AlertedAccount & {
      readonly changes: ReadonlyArray<OutsideChange>
      readonly lockdown: keyof typeof lockdowns
    }
  ) => ({
    subject: `Takeover of ${quoted(facts.account.name)}`,
    paragraphs: [
      "A protected account is being taken over.",
      accountOf(facts),
      changed(facts.changes),
      lockdowns[facts.lockdown]
    ]
  })
})

export const takeoverStopped = mailKind("takeover_stopped", {
  ...recipients,
  when: "A takeover was stopped: the account's other sessions were signed out.",
  write: (facts: AlertedAccount & { readonly signedOut: number; readonly twoFaManaged: boolean }) => ({
    subject: `Takeover stopped: ${quoted(facts.account.name)}`,
    paragraphs: [
      "A takeover of a protected account was stopped.",
      accountOf(facts),
      `Sessions signed out: ${facts.signedOut}. The holder's own devices may be among them.`,
      "For the next 48 hours whoever signs in is signed out at once. Before the holder signs in again, release the " +
      `account's takeover lock${
        facts.twoFaManaged
          ? ", and only then hand out its two-factor password: the console shows it to superadmins"
          : ""
      }.`
    ]
  })
})

const losses = {
  unreachable: "The messenger could not be asked for it several times. The service goes on trying.",
  key_lost: "The service cannot use its session any more. Log in to the account again."
}

export const monitoringLost = mailKind("monitoring_lost", {
  ...recipients,
  when: "An account cannot be watched.",
  write: (facts: AlertedAccount & { readonly reason: keyof typeof losses }) => ({
    subject: `Not watched: ${quoted(facts.account.name)}`,
    paragraphs: ["A protected account cannot be watched at the moment.", accountOf(facts), losses[facts.reason]]
  })
})

export const monitoringLostWidely = mailKind("monitoring_lost_widely", {
  ...recipients,
  when: "Many accounts at once cannot be watched.",
  write: (facts: { readonly accounts: number }) => ({
    subject: `Not watched: ${facts.accounts} accounts`,
    paragraphs: [
      `${facts.accounts} protected accounts cannot be watched at the moment.`,
      losses.unreachable
    ]
  })
})

const stops: Readonly<Record<StopReason, string>> = {
  session_lost: "The service's session was ended, and there is no second one. Log in to the account again.",
  licence: "The licence has ended.",
  organization_suspended: "The organization is suspended.",
  account_deleted_by_platform: "The account is gone on the messenger."
}

export const protectionStopped = mailKind("protection_stopped", {
  ...recipients,
  when: "An account is no longer protected.",
  write: (facts: AlertedAccount & { readonly reason: StopReason }) => ({
    subject: `No longer protected: ${quoted(facts.account.name)}`,
    paragraphs: ["An account is no longer protected.", accountOf(facts), stops[facts.reason]]
  })
})

export const protectionStoppedWidely = mailKind("protection_stopped_widely", {
  ...recipients,
  when: "The accounts of the organization are no longer protected.",
  write: (facts: { readonly accounts: number; readonly reason: StopReason }) => ({
    subject: `No longer protected: ${facts.accounts} accounts`,
    paragraphs: [`${facts.accounts} accounts of your organization are no longer protected.`, stops[facts.reason]]
  })
})

export const twoFaLost = mailKind("two_fa_lost", {
  ...recipients,
  when: "The two-factor password that the service holds no longer opens the account.",
  write: (facts: AlertedAccount) => ({
    subject: `Two-factor password lost: ${quoted(facts.account.name)}`,
    paragraphs: [
      "The two-factor password that the service holds is no longer the account's: somebody else has set another one.",
      accountOf(facts),
      "If the holder does not know it, they can ask the messenger for a reset, which takes 7 days."
    ]
  })
})

export const pairedSessionLost = mailKind("paired_session_lost", {
  ...recipients,
  when: "The second session of an account is lost and cannot be made anew without its holder.",
  write: (facts: AlertedAccount) => ({
    subject: `Second session lost: ${quoted(facts.account.name)}`,
    paragraphs: [
      "The second session by which the service would go on after losing the first is gone.",
      accountOf(facts),
      "Pair a new one with the holder's two-factor password."
    ]
  })
})

const acts = {
  approved: "approved a session that was waiting for its review",
  paused: "paused the protection of an account while sessions were waiting for their review"
}

export const reviewEnded = mailKind("review_ended", {
  ...recipients,
  when: "An admin approves a session, or pauses an account, while sessions wait for their review.",
  write: (
    facts: AlertedAccount & { readonly by: string; readonly did: keyof typeof acts; readonly sessions: number }
  ) => ({
    subject: `Review ended: ${quoted(facts.account.name)}`,
    paragraphs: [
      `${quoted(facts.by)} has ${acts[facts.did]}.`,
      accountOf(facts),
      `Sessions concerned: ${facts.sessions}. They are not signed out by themselves now.`
    ]
  })
})

export const secretUnrevealed = mailKind("secret_unrevealed", {
  ...recipients,
  when: "A two-factor password that nobody has looked at is erased in 14 days.",
  write: (facts: AlertedAccount & { readonly erasesAt: Date }) => ({
    subject: `Look up the two-factor password of ${quoted(facts.account.name)}`,
    paragraphs: [
      "The service holds a two-factor password of an account that it no longer protects. Nobody has looked it up.",
      accountOf(facts),
      `It is erased on ${moment(facts.erasesAt)}. Without it the holder may be locked out.`
    ]
  })
})
