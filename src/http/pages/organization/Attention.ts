/** The states of protection and archive that an admin has to look at, the most urgent first. */
import type { SavingReason } from "../../../domain/archive/ArchiveSummary.ts"
import { isNearlyFull } from "../../../domain/archive/StorageLimit.ts"
import type { StatusOverview } from "../../../domain/organization/StatusOverview.ts"
import { archiveReaders, protectors, type Role, superadmins } from "../../../domain/people/Access.ts"
import * as Statuses from "../accounts/Statuses.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Tabs from "./OrganizationTabs.ts"

/** A state, what follows from it, and the page where it is solved. */
export interface Matter {
  readonly tone: "danger" | "caution" | "note"
  readonly title: string
  readonly text: Html.Value
  readonly to: string
  readonly action: string
}

/** The admin who looks at it, and the mail and storage of the console. */
export interface Viewer {
  readonly role: Role
  readonly readsArchive: boolean
  readonly sendsMail: boolean
}

type Reason = typeof SavingReason.Type

const accountsPath = "/console/accounts"

const withStatus = (status: string): string => `${accountsPath}?status=${status}#list`

const accounts = (count: number): string => `${count.toLocaleString("en")} ${count === 1 ? "account" : "accounts"}`

const lookAt = (count: number): string => count === 1 ? "Look at it" : "Look at them"

const are = (count: number): string => count === 1 ? "is" : "are"

type Find = (overview: StatusOverview, viewer: Viewer) => Matter | undefined

const statusMatter = (
  status: "hijack_blocked" | "protection_stopped" | "status_unknown",
  tone: Matter["tone"],
  action?: string
): Find =>
({ protection }) => {
  const count = protection.accounts[status] ?? 0
  return count === 0 ? undefined : {
    tone,
    title: `${Statuses.words[status].name}: ${accounts(count)}`,
    text: Statuses.words[status].meaning,
    to: withStatus(status),
    action: action ?? lookAt(count)
  }
}

const outage: Find = ({ service }) =>
  service.message === null ? undefined : {
    tone: service.state === "down" ? "danger" : "caution",
    title: service.state === "down" ? "Protection is down" : "The service is degraded",
    text: service.message,
    to: Tabs.supportPath,
    action: "Ask the support"
  }

const unheard: Find = ({ protection }, { sendsMail }) =>
  !protection.unheard ? undefined : {
    tone: "danger",
    title: "Nobody would hear an alarm",
    text: `Nobody would get a mail about a takeover: ${
      sendsMail ? "no recipient wants it" : "this console sends no mail"
    }.`,
    to: Tabs.mailsPath,
    action: "Choose who gets mails"
  }

const reviews: Find = ({ generated_at, protection }, { role }) => {
  const { oldest_review_deadline, sessions_to_review } = protection
  return sessions_to_review === 0 || !protectors.includes(role) ? undefined : {
    tone: "caution",
    title: `${sessions_to_review} ${sessions_to_review === 1 ? "session" : "sessions"} to review`,
    text: oldest_review_deadline === null
      ? "Nobody has said whether they belong to the holders of their accounts."
      : oldest_review_deadline <= generated_at
      ? html`The first should have been signed out at ${
        Html.momentOf(oldest_review_deadline)
      }; the service keeps trying.`
      : html`What nobody approves is signed out, the first at ${Html.momentOf(oldest_review_deadline)}.`,
    to: "/console/reviews",
    action: "Review them"
  }
}

const paused: Find = ({ protection: { paused_with_pending: count } }) =>
  count === 0 ? undefined : {
    tone: "caution",
    title: `${accounts(count)} paused with sessions that nobody has approved`,
    text: "While protection is paused, such a session stays.",
    to: withStatus("paused"),
    action: lookAt(count)
  }

const noKey: Find = ({ saving }, { role }) =>
  (saving.reasons["no_key"] ?? 0) === 0 ? undefined : {
    tone: "danger",
    title: "Nothing is archived: the archive password is not set",
    text: role === "owner" ? "Set it, and chats are archived from then on." : "The owner sets it.",
    to: Tabs.archiveKeyPath,
    action: "Archive password"
  }

const storage: Find = ({ saving: { storage_limit_bytes: limit, storage_used_bytes: used } }) =>
  limit === null || !isNearlyFull(used, limit) ? undefined : {
    tone: used >= limit ? "danger" : "caution",
    title: used >= limit ? "The archive's storage is full" : "The archive's storage is filling",
    text: `${Math.floor(used / limit * 100)} % is used.${used >= limit ? " Nothing more is saved." : ""}`,
    to: Tabs.subscriptionPath,
    action: "Subscription"
  }

/** The reasons that have no matter of their own above: what they mean, where each is solved, and by which link. */
const unsavedReasons: ReadonlyArray<readonly [Reason, string, string, string?]> = [
  ["error", "the last run failed", accountsPath, "Find the accounts"],
  ["no_connection", "the service has no session on the messenger", withStatus("protection_stopped"), "Sign in again"],
  ["licence_stopped", "the licence has ended", Tabs.subscriptionPath, "Subscription"],
  ["cleanup_stopped", "a cleanup has stopped it", Tabs.archiveCleanupsPath, "Cleanups"],
  ["paused", "protection is paused", withStatus("paused")],
  ["connection_unknown", "the messenger does not say who is signed in", withStatus("status_unknown")]
]

const unsaved = ([reason, because, to, action]: typeof unsavedReasons[number]): Find => ({ saving }) => {
  const count = saving.state === "off" ? 0 : saving.reasons[reason] ?? 0
  const surely = reason !== "connection_unknown"
  return count === 0 ? undefined : {
    tone: "caution",
    title: `${accounts(count)} ${are(count)} ${surely ? "not" : "perhaps not"} saving new messages`,
    text: `The reason: ${because}.`,
    to,
    action: action ?? lookAt(count)
  }
}

const chats: Find = ({ saving: { chats_to_review: count } }, { readsArchive, role }) =>
  count === 0 || !readsArchive || !archiveReaders.includes(role) ? undefined : {
    tone: "note",
    title: `${count.toLocaleString("en")} ${count === 1 ? "chat" : "chats"} to review`,
    text: `The rules leave it to an admin whether ${count === 1 ? "it is" : "they are"} archived.`,
    to: `${Tabs.archiveRulesPath}#review`,
    action: count === 1 ? "See whose it is" : "See whose they are"
  }

const unreadable: Find = ({ saving: { unreadable_messages: count } }, { readsArchive }) =>
  count === 0 || !readsArchive ? undefined : {
    tone: "caution",
    title: `${count.toLocaleString("en")} archived ${count === 1 ? "message does" : "messages do"} not open`,
    text: "They are damaged, or sealed under an archive key that was lost. The journal says when that was found.",
    to: "/console/journal?action=archive.unreadable",
    action: "Journal"
  }

/** In the order of urgency: what lets an attacker act, what hides it, what loses messages, what can wait. */
const finds: ReadonlyArray<Find> = [
  statusMatter("hijack_blocked", "danger"),
  outage,
  unheard,
  statusMatter("protection_stopped", "danger", "Sign in again"),
  reviews,
  paused,
  statusMatter("status_unknown", "caution"),
  noKey,
  storage,
  unreadable,
  ...unsavedReasons.map(unsaved),
  chats
]

/** Cleanups are for the owner and superadmins. */
const canSolve = ({ role }: Viewer, { to }: Matter): boolean =>
  superadmins.includes(role) || to !== Tabs.archiveCleanupsPath

export const mattersOf = (overview: StatusOverview, viewer: Viewer): ReadonlyArray<Matter> =>
  finds.flatMap((find) => find(overview, viewer) ?? []).filter((matter) => canSolve(viewer, matter))
