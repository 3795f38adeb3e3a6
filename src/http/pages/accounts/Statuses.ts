/** The protection statuses in words; a colour never carries more meaning than the word with it. */
import { AccountStatus } from "../../../domain/accounts/ProtectionStatus.ts"
import { type Html, html } from "../kit/index.ts"

/** The colour of a status, by how much it needs attention. */
export type Tone = "good" | "caution" | "danger" | "note" | "off"

interface Words {
  readonly name: string
  readonly tone: Tone
  /** The meaning, in a sentence. */
  readonly meaning: string
}

export const words: Readonly<Record<AccountStatus, Words>> = {
  hijack_blocked: {
    name: "Takeover stopped",
    tone: "danger",
    meaning: "Somebody tried to take this account over, and protection stepped in."
  },
  new_sign_in: {
    name: "New sign-in",
    tone: "caution",
    meaning: "Somebody signed in to this account, and nobody has approved it yet."
  },
  protection_stopped: {
    name: "Protection stopped",
    tone: "danger",
    meaning: "The service no longer watches this account: nobody who signs in is noticed or signed out."
  },
  status_unknown: {
    name: "Status unknown",
    tone: "caution",
    meaning: "The service cannot read this account at the moment, and keeps trying."
  },
  recently_connected: {
    name: "Recently connected",
    tone: "note",
    meaning: "For 24 hours after an account is connected, the messenger lets the service sign nobody out."
  },
  protected: {
    name: "Protected",
    tone: "good",
    meaning: "Sign-ins are watched, and a new session is signed out unless somebody approves it."
  },
  paused: {
    name: "Paused",
    tone: "off",
    meaning: "Protection is paused: nothing is signed out. The account keeps its licence."
  },
  available: {
    name: "Offboarded",
    tone: "off",
    meaning: "The account is no longer protected, and its seat is free."
  }
}

/** Every status, the most urgent first. */
export const inOrder: ReadonlyArray<AccountStatus> = [
  "hijack_blocked",
  "new_sign_in",
  "protection_stopped",
  "status_unknown",
  "recently_connected",
  "protected",
  "paused",
  "available"
]

export const isStatus = (text: string): text is AccountStatus => AccountStatus.literals.some((each) => each === text)

/** A word with a sign of its tone: every state on the pages is shown by one. */
export const mark = (tone: Tone, text: Html.Html | string): Html.Html =>
  html`<span class="tone is-${tone}">${text}</span>`

export const badge = (status: AccountStatus): Html.Html => mark(words[status].tone, words[status].name)
