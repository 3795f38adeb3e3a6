/** Mails as operations and background work write them: who gets them, what for, and what they say. */
import { Redacted } from "effect"
import type { MailChoices } from "../people/MailPreferences.ts"
import type { Letter } from "./Letter.ts"

/** A choice by which a person turns a kind of mail off (specification, section 2.9). */
export type MailChoice = keyof MailChoices

/**
 * The people who get a mail: those who get the organization's notifications, its owner, its superadmins or one admin,
 * or the address of the service's support. If a choice is named, admins who have turned it off are left out.
 */
export type Audience =
  | { readonly to: "recipients"; readonly choice: MailChoice }
  | { readonly to: "owner"; readonly choice: MailChoice }
  | { readonly to: "superadmins"; readonly choice: MailChoice }
  | { readonly to: "admin"; readonly adminId: string }
  | { readonly to: "support" }

/**
 * The cause of a mail; for one cause a person gets one mail. `event` is the event that the transaction has appended
 * last; what is warned of is named, such as `api_key/<id>/expires`.
 */
export type Cause = "event" | `${string}/${string}`

export interface Mail {
  readonly kind: string
  readonly audience: Audience
  /** It may hold a link that is a secret. */
  readonly letter: Redacted.Redacted<Letter>
}

/** A kind of mail: it makes a mail of its facts. */
export interface MailKind<F> {
  (facts: F): Mail
  readonly kind: string
  /** The occasion of the mail, as the table of mails says. */
  readonly when: string
  readonly to: Audience["to"]
  readonly choice: MailChoice | null
}

type Addressed<F> =
  | { readonly to: "recipients" | "owner" | "superadmins"; readonly choice: MailChoice }
  | { readonly to: "support" }
  | { readonly to: "admin"; readonly admin: (facts: F) => string }

const audience = <F>(addressed: Addressed<F>, facts: F): Audience =>
  addressed.to === "admin"
    ? { to: "admin", adminId: addressed.admin(facts) }
    : addressed

/** Declares a kind of mail. */
export const mailKind = <F>(
  kind: string,
  { when, write, ...addressed }: Addressed<F> & { readonly when: string; readonly write: (facts: F) => Letter }
): MailKind<F> =>
  Object.assign(
    (facts: F): Mail => ({ kind, audience: audience(addressed, facts), letter: Redacted.make(write(facts)) }),
    { kind, when, to: addressed.to, choice: "choice" in addressed ? addressed.choice : null }
  )
