/** An event's details in words, with the exact value with each text that replaces one. */
import type { JournalEvent } from "../../../domain/journal/JournalEvent.ts"
import { isUuid } from "../../../domain/JsonShapes.ts"
import { shownName } from "../../../domain/oauth/ClientName.ts"
import { Html, html } from "../kit/index.ts"

/** The names of ids, as far as the page knows. */
export type Names = ReadonlyMap<string, string>

const spelled: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bapi\b/g, "API"],
  [/\bai\b/g, "AI"],
  [/\bid\b/g, "id"],
  [/\boauth\b/g, "OAuth"],
  [/\btwo fa\b/g, "two-factor authentication"],
  [/\bsign (in|out|up)\b/g, "sign-$1"]
]

/** Labels of codes whose names are too short to read well; other codes are shown word by word. */
const codes: ReadonlyMap<string, string> = new Map([
  ["account_deleted_by_platform", "the messenger has deleted the account"],
  ["approved_and_baseline", "what was approved or was there before"],
  ["autokill", "nobody had approved it"],
  ["bad_list", "the messenger’s list of sessions cannot be read"],
  ["banned", "the messenger has banned the account"],
  ["code", "a login code was sent"],
  ["deadline", "nobody approved it by its deadline"],
  ["deleted", "the messenger has deleted the account"],
  ["external", "a person on the messenger"],
  ["failed_over", "the second session took its place"],
  ["hijacked", "the account was being taken over"],
  ["interrupted", "the process ended meanwhile"],
  ["key_duplicated", "its key was used in two places at once"],
  ["licence", "the licence has ended"],
  ["lock", "new sessions are signed out on sight while the account is locked"],
  ["locked", "the messenger allows no sign-out yet"],
  ["mfa", "more than one factor"],
  ["no_key", "the service has no key of a session"],
  ["organization_suspended", "the organization is suspended or closed"],
  ["owner_superadmins", "the owner and every superadmin"],
  ["password_pending", "the right code, not yet the password"],
  ["rejected", "an admin rejected it"],
  ["relogin", "sign in again"],
  ["replaced", "another session took its place"],
  ["revoked", "somebody signed it out on the messenger"],
  ["session_lost", "the service’s session is lost"],
  ["sessions_ended", "sessions that others ended"],
  ["skipped", "an admin decided otherwise meanwhile"],
  ["totp", "authenticator app"],
  ["unavailable", "the messenger did not answer"],
  ["unknown", "not known"],
  ["unknown_authorization", "it was gone already"]
])

/** The details that hold codes of the service; all others are text by people or of elsewhere, and stay as they are. */
const coded = new Set([
  "because",
  "billing_state",
  "category",
  "changed",
  "client_secret",
  "code",
  "code_delivery",
  "ended_by",
  "error",
  "factor",
  "fields",
  "keep",
  "kind",
  "made",
  "passkey",
  "period",
  "plan",
  "reason",
  "recipients",
  "response",
  "role",
  "second_factor",
  "seen",
  "tier",
  "two_fa",
  "way"
])

/** Actions whose former value is a code too. */
const codedBefore = new Set(["account.tier_set", "admin.role_set"])

/** Labels of details whose names are too short to read well. */
const labels: ReadonlyMap<string, string> = new Map([
  ["because", "Not done because"],
  ["certain", "Known for certain"],
  ["from", "Before"],
  ["left", "Codes left"],
  ["made", "Made in"],
  ["others", "Other sessions"],
  ["retries", "Tries again what event began"],
  ["seen", "What was seen"],
  ["way", "By"]
])

const readable = (name: string): string =>
  spelled.reduce((all, [found, by]) => all.replaceAll(found, by), name.replaceAll(/[._]/g, " "))

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** A name as a person writes it: `session.signed_out` is “Session signed out”. */
export const written = (name: string): string => capital(readable(name))

/** A code of the service in words, within a sentence. */
export const said = (code: string): string => codes.get(code) ?? readable(code)

/** Several codes, as `takeover.detected` has them; any other text stays as it is. */
export const saidAll = (text: string): string =>
  /^[a-z_]+(?:,? [a-z_]+)*$/.test(text) ? text.split(/,? /).map(said).join(", ") : text

const isMoment = (text: string): boolean =>
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?Z$/.test(text) &&
  !Number.isNaN(Date.parse(text))

interface ReadableDetails {
  readonly shown: Html.Html
  /** The stored value, where that is not what is shown. */
  readonly exact: string | null
}

const read = (names: Names, action: string, name: string, value: string | number | boolean): ReadableDetails => {
  if (typeof value !== "string") {
    return { shown: html`${value === true ? "yes" : value === false ? "no" : value}`, exact: null }
  }
  const known = isUuid(value) ? names.get(value) : undefined
  if (known !== undefined) return { shown: Html.named(known), exact: value }
  if (isMoment(value)) return { shown: Html.momentOf(new Date(value)), exact: value }
  if (coded.has(name) || name === "from" && codedBefore.has(action)) {
    const text = name === "changed" || name === "fields" ? saidAll(value) : said(value)
    return { shown: html`${text}`, exact: text === value ? null : value }
  }
  const text = shownName(value) ?? ""
  return { shown: Html.named(text), exact: text === value ? null : value }
}

/** One detail in words, and as it is stored where that differs. */
export interface Detail {
  readonly label: string
  readonly shown: Html.Html
  readonly exact: string | null
}

/** The details of an event, each name once, in their order. */
export const all = (
  { action, details }: Pick<JournalEvent, "action" | "details">,
  names: Names
): ReadonlyArray<Detail> =>
  Object.entries(details).map(([name, value]) => ({
    label: labels.get(name) ?? (name.endsWith("_id") ? written(name.slice(0, -3)) : written(name)),
    ...read(names, action, name, value)
  }))
