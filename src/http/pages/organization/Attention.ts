/** The states of protection and archive that an admin has to look at, the most urgent first. */
import type { SavingReason } from "../../../domain/archive/ArchiveSummary.ts"
import { isNearlyFull } from "../../../domain/archive/StorageLimit.ts"
import { brokenChain, type StatusOverview } from "../../../domain/organization/StatusOverview.ts"
import { archiveReaders, protectors, superadmins } from "../../../domain/people/Access.ts"
import * as Statuses from "../accounts/Statuses.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import { ending, failedCleanups, retentionBegins } from "./ArchiveMatters.ts"
import type { ArchiveState, Find, Matter, Viewer } from "./Matter.ts"
import * as Tabs from "./OrganizationTabs.ts"

type Reason = typeof SavingReason.Type

const accountsPath = "/console/accounts"

const withStatus = (status: string): string => `${accountsPath}?status=${status}#list`

const accounts = (count: number): string => `${count.toLocaleString("en")} ${count === 1 ? "account" : "accounts"}`

const lookAt = (count: number): string => count === 1 ? "Look at it" : "Look at them"

const are = (count: number): string => count === 1 ? "is" : "are"

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

/** A broken chain is a matter of its own. */
const outage: Find = ({ service }) =>
  service.message === null || service.message === brokenChain ? undefined : {
    tone: service.state === "down" ? "danger" : "caution",
    title: service.state === "down" ? "Protection is down" : "The service is degraded",
    text: service.message,
    to: Tabs.supportPath,
    action: "Ask the support"
  }

const chain: Find = ({ journal: { chain_checked_at, chain_ok } }) =>
  chain_ok !== false ? undefined : {
    tone: "danger",
    title: "The journal's chain is broken",
    text: html`Events were changed or removed in the database${
      chain_checked_at === null ? undefined : html`, as was found at ${Html.momentOf(chain_checked_at)}`
    }. Compare the journal with an export or a signed checkpoint.`,
    to: "/console/journal#chain",
    action: "Journal"
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

const drift: Find = ({ saving: { drift: count } }, { readsArchive }) =>
  count === 0 || !readsArchive ? undefined : {
    tone: "caution",
    title: `${count.toLocaleString("en")} ${
      count === 1 ? "message was" : "messages were"
    } missing that counted as archived`,
    text: "The last run of each account found that, and archived what the messenger still had.",
    to: "/console/journal?action=archive.drifted",
    action: "Journal"
  }

/** In the order of urgency: what lets an attacker act, what hides it, what loses messages, what can wait. */
const finds: ReadonlyArray<Find> = [
  statusMatter("hijack_blocked", "danger"),
  chain,
  outage,
  unheard,
  statusMatter("protection_stopped", "danger", "Sign in again"),
  reviews,
  paused,
  statusMatter("status_unknown", "caution"),
  noKey,
  ending,
  storage,
  unreadable,
  drift,
  ...unsavedReasons.map(unsaved),
  retentionBegins,
  failedCleanups,
  chats
]

/** Cleanups are for the owner and superadmins. */
const canSolve = ({ role }: Viewer, { to }: Matter): boolean =>
  superadmins.includes(role) || !to.startsWith(Tabs.archiveCleanupsPath)

export const mattersOf = (
  overview: StatusOverview,
  viewer: Viewer,
  archive: ArchiveState
): ReadonlyArray<Matter> =>
  finds.flatMap((find) => find(overview, viewer, archive) ?? []).filter((matter) => canSolve(viewer, matter))
