/** The state of saving an account's new messages, in words: why they are not saved, and what to do about it. */
import type { AccountDetail } from "../../../domain/accounts/Account.ts"
import type { ArchiveSummary } from "../../../domain/archive/ArchiveSummary.ts"
import { protectors, superadmins } from "../../../domain/people/Access.ts"
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

export const savingState = (view: AdminPage, { archive: { saving }, id }: AccountDetail): Html.Html => {
  const [tone, state] = states[saving.state]
  return saving.reason === null
    ? html`<p>${Statuses.mark(tone, state)}</p>`
    : html`<p>${Statuses.mark(tone, state)} because ${reasons[saving.reason]}. ${remedy(view, id, saving.reason)}</p>`
}
