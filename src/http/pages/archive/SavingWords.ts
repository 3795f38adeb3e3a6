/** The state of saving an account's new messages, in words: why they are not saved, and what to do about it. */
import type { AccountDetail } from "../../../domain/accounts/Account.ts"
import type { ArchiveSummary } from "../../../domain/archive/ArchiveSummary.ts"
import type { FailureReason } from "../../../domain/archive/FileReason.ts"
import { protectors, superadmins } from "../../../domain/people/Access.ts"
import type { FailedFiles } from "../../../ports/archive/WaitingFiles.ts"
import * as Statuses from "../accounts/Statuses.ts"
import type * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import type { AdminPage } from "../kit/PageRequest.ts"
import * as Tabs from "../organization/OrganizationTabs.ts"

type Saving = ArchiveSummary["saving"]
type Reason = NonNullable<Saving["reason"]>

const states: Readonly<Record<Saving["state"], readonly [Statuses.Tone, string]>> = {
  saving: ["good", "New messages are saved"],
  check: ["caution", "New messages are perhaps not saved"],
  stopped: ["caution", "New messages are not saved"]
}

const reasons: Readonly<Record<Reason, string>> = {
  paused: "protection is paused",
  no_key: "the organization has no archive password yet",
  storage_full: "the storage limit is reached",
  no_archive_plan: "the plan or the licence has no archive",
  licence_stopped: "the licence has ended",
  no_connection: "the service has no session on the messenger",
  cleanup_stopped: "a cleanup has stopped it",
  error: "the last backup failed",
  connection_unknown: "the messenger does not say who is signed in",
  retired: "the account is offboarded"
}

/** Words and a page where the reason is solved, as far as the admin's role can. */
const remedy = ({ admin: { role }, visit: { base } }: AdminPage, id: string, reason: Reason): Html.Html => {
  const link = (to: string, text: string) => html`<a href="${base}${to}">${text}</a>`
  const own = `/console/accounts/${id}#protection`
  const subscription = link(Tabs.subscriptionPath, "Subscription")
  switch (reason) {
    case "paused":
      return protectors.includes(role)
        ? html`Resume ${link(own, "its protection")}, and what was missed is read then.`
        : html`Once it is resumed, what was missed is read.`
    case "no_key":
      return role === "owner"
        ? html`Set ${link(Tabs.archiveKeyPath, "the archive password")}.`
        : html`The owner sets it.`
    case "storage_full":
      return html`See ${
        link(`${Tabs.archiveRulesPath}#storage`, "what takes the storage")
      }, or raise the limit: ${subscription}.`
    case "no_archive_plan":
    case "licence_stopped":
      return html`See ${subscription}.`
    case "no_connection":
      return protectors.includes(role)
        ? html`Sign in to the account again, under ${link(own, "Protection")}.`
        : html`An admin who protects the account has to sign in to it again.`
    case "cleanup_stopped":
      return superadmins.includes(role)
        ? html`See ${link(Tabs.archiveCleanupsPath, "Cleanups")}.`
        : html`The owner or a superadmin decides about it.`
    case "error":
      return html`What was missed is read by the next backup that succeeds.`
    case "connection_unknown":
      return html`The service keeps trying; there is nothing to do unless this lasts.`
    case "retired":
      return html`What is archived stays.`
  }
}

/** The section about contents that no rule and no setting brings into an archive. */
export const notArchived = html`<section aria-labelledby="not-archived">
  <h2 id="not-archived">What cannot be archived</h2>
  <ul>
    <li>Secret chats, and the sound of calls.</li>
    <li>Photos and films that are shown once.</li>
    <li>What was deleted before the account was connected, and histories that are hidden from it.</li>
    <li>Stories, and the images of stickers.</li>
    <li>The chats in which the messenger sends login codes.</li>
  </ul>
</section>`

const failures: Readonly<Record<FailureReason, string>> = {
  gone: "no longer on the messenger",
  refused: "refused by the messenger"
}

/** Files that could not be saved, by the reason. */
export const failedFiles = (counts: ReadonlyArray<FailedFiles>): string =>
  counts.map(({ files, reason }) => `${files.toLocaleString("en")} ${failures[reason]}`).join(", ")

export const savingState = (view: AdminPage, { archive: { saving }, id }: AccountDetail): Html.Html => {
  const [tone, state] = states[saving.state]
  return saving.reason === null
    ? html`<p>${Statuses.mark(tone, state)}</p>`
    : html`<p>${Statuses.mark(tone, state)} because ${reasons[saving.reason]}. ${remedy(view, id, saving.reason)}</p>`
}
