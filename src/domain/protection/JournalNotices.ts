/** Notices: events of the journal, and the mails that they cause. */
import type { ActionName } from "../journal/JournalEntry.ts"
import type { JournalDetails } from "../journal/JournalEvent.ts"
import type { EngineEvent, EngineMail, MailedSession, MailText } from "./Decision.ts"
import type { EndingReason, ProtectionFacts, WatchedSession } from "./Facts.ts"

/** An event, and the mail that it causes. */
export type Notice = readonly [EngineEvent, MailText | null]

/** An event about the account. */
export const accountEvent = (
  action: ActionName,
  actor: EngineEvent["actor"],
  details: JournalDetails = {}
): EngineEvent => ({ action, actor, session: null, details })

/** An event about one session. */
export const sessionEvent = (
  action: ActionName,
  actor: EngineEvent["actor"],
  session: string,
  details: JournalDetails = {}
): EngineEvent => ({ action, actor, session, details })

/** The device and the application, as one text. */
export const deviceLabel = (
  { app_name, device_model }: Pick<WatchedSession, "app_name" | "device_model">
): string | null => {
  const parts = [device_model, app_name].filter((part) => part !== null)
  return parts.length === 0 ? null : parts.join(" · ")
}

/** The facts of a session in a mail. */
export const mailedSession = (
  { app_name, country, created_at, device_model, id, ip }: MailedSession
): MailedSession => ({ id, device_model, app_name, ip, country, created_at })

/** True where the service signs the session out by itself, at its deadline. */
export const isAutokill = (reason: EndingReason): boolean => reason === "autokill" || reason === "lock"

/** The action of signing a session out, by why the service does it. */
export const endingAction = (reason: EndingReason): ActionName =>
  isAutokill(reason) ? "session.autokilled" : "session.signed_out"

/** The reason of a sign-out, as the journal says it. */
export const endingDetails = (reason: EndingReason): { readonly reason: string } => ({
  reason: reason === "autokill" ? "deadline" : reason
})

/** True if a new paired session needs no password of the holder. */
export const canPairAlone = ({ account, facets }: Pick<ProtectionFacts, "account" | "facets">): boolean =>
  account.two_fa_managed && facets.two_fa_lost !== true || facets.two_fa === null

/** The events in their order, and the mails by the events that cause them. */
export const collected = (
  notices: ReadonlyArray<Notice>
): { readonly events: ReadonlyArray<EngineEvent>; readonly mails: ReadonlyArray<EngineMail> } => ({
  events: notices.map(([event]) => event),
  mails: notices.flatMap(([, mail], event) => mail === null ? [] : [{ ...mail, event }])
})
