/** What the service tells: events of the journal, and the mails that they cause. */
import type { ActionName } from "../JournalEntry.ts"
import type { JournalDetails } from "../JournalEvent.ts"
import type { EngineEvent, EngineMail, MailText, ToldSession } from "./Decision.ts"
import type { EndingReason, ProtectionFacts, WatchedSession } from "./Facts.ts"

/** An event, and the mail that it causes. */
export type Told = readonly [EngineEvent, MailText | null]

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

/** What a mail says of a session. */
export const toldSession = (
  { app_name, country, created_at, device_model, id, ip }: ToldSession
): ToldSession => ({ id, device_model, app_name, ip, country, created_at })

/** The action of signing a session out, by why the service does it. */
export const endingAction = (reason: EndingReason): ActionName =>
  reason === "autokill" ? "session.autokilled" : "session.signed_out"

/** Whether a new paired session needs no password of the holder. */
export const canPairAlone = ({ account, facets }: Pick<ProtectionFacts, "account" | "facets">): boolean =>
  account.two_fa_managed && facets.two_fa_lost !== true || facets.two_fa === null

/** The events in their order, and the mails by the events that cause them. */
export const collected = (
  told: ReadonlyArray<Told>
): { readonly events: ReadonlyArray<EngineEvent>; readonly mails: ReadonlyArray<EngineMail> } => ({
  events: told.map(([event]) => event),
  mails: told.flatMap(([, mail], event) => mail === null ? [] : [{ ...mail, event }])
})
