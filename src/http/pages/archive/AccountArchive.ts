/** The archive of an account on its page: what is saved, how far a run is, and asking for one. */
import type { AccountDetail } from "../../../domain/accounts/Account.ts"
import { isActive } from "../../../domain/accounts/ProtectionStatus.ts"
import type { ArchiveSummary } from "../../../domain/archive/ArchiveSummary.ts"
import { archiveReaders, superadmins } from "../../../domain/people/Access.ts"
import { startBackup } from "../../../operations/archive/start_backup.ts"
import * as Statuses from "../accounts/Statuses.ts"
import type * as Form from "../kit/Form.ts"
import * as Forms from "../kit/Forms.ts"
import type * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import type { AdminPage } from "../kit/PageRequest.ts"
import * as Times from "../kit/Times.ts"
import * as Cleanups from "./ArchiveCleanups.ts"
import * as Exports from "./ArchiveExports.ts"
import * as Holds from "./ArchiveHolds.ts"
import * as Redaction from "./ArchiveRedaction.ts"

type Saving = ArchiveSummary["saving"]

const states: Readonly<Record<Saving["state"], readonly [Statuses.Tone, string]>> = {
  saving: ["good", "Saved as they come"],
  check: ["caution", "Not sure"],
  stopped: ["caution", "Not saved"]
}

const reasons: Readonly<Record<NonNullable<Saving["reason"]>, string>> = {
  paused: "protection is paused",
  no_key: "the organization has no archive password yet",
  storage_full: "the storage limit is reached",
  no_archive_plan: "the plan or the licence has no archive",
  licence_stopped: "the licence has ended",
  no_connection: "the service has no session on the messenger",
  cleanup_stopped: "a cleanup has stopped it",
  error: "the last run failed",
  connection_unknown: "the messenger does not say who is signed in",
  retired: "the account is offboarded"
}

const phases = {
  starting: "It begins",
  dialogs: "It looks at the chats",
  messages: "It reads messages",
  media: "It saves files",
  finishing: "It ends"
}

const running = ({ phase, running }: ArchiveSummary): Html.Html | undefined =>
  running === null || phase === null ? undefined : html`
  <p role="status">${phases[phase]}${
    running.dialogs_total === null ? undefined : html`: ${running.dialogs_done} of ${running.dialogs_total} chats
  <progress max="${String(Math.max(1, running.dialogs_total))}" value="${String(running.dialogs_done)}"></progress>`
  }</p>`

/** The section of the account's page; none for roles that do not read archives. */
export const section = (view: AdminPage, account: AccountDetail): Html.Html | undefined => {
  const { archive, id } = account
  if (!archiveReaders.includes(view.admin.role)) return undefined
  const { chats, last_backup_at, messages, next_backup_at, saving } = archive
  const [tone, state] = states[saving.state]
  const count = (value: number) => value.toLocaleString("en")
  return html`
<section aria-labelledby="archive">
  <h2 id="archive">Archive</h2>
  <p>${Statuses.mark(tone, state)}${saving.reason === null ? undefined : html` because ${reasons[saving.reason]}.`}</p>
  ${running(archive)}
  <dl class="facts">
    <dt>Messages</dt><dd>${count(messages)}</dd>
    <dt>Chats</dt><dd>${count(chats.selected)} of ${count(chats.discovered)} selected, ${
    count(chats.complete)
  } complete${chats.review === 0 ? undefined : html`, ${count(chats.review)} to review`}</dd>
    <dt>Checked in full</dt><dd>${Times.since(last_backup_at, view.now, "Not yet")}</dd>
    ${next_backup_at === null ? undefined : html`<dt>Next check</dt><dd>${Times.when(next_backup_at, view.now)}</dd>`}
  </dl>
  ${
    !isActive(account.status) || saving.state === "stopped"
      ? undefined
      : Forms.open(view, { path: `/console/accounts/${id}/back-up` }, html`<button>Back up now</button>`)
  }
  ${
    view.admin.readsArchive
      ? html`<p><a href="${view.visit.base}${Exports.addressFor(id)}">Export it …</a></p>`
      : undefined
  }
  ${
    superadmins.includes(view.admin.role)
      ? html`<p><a href="${view.visit.base}${
        Cleanups.addressFor(id)
      }">Delete from it …</a> <a href="${view.visit.base}${
        Holds.addressFor(id)
      }">Place a hold …</a> <a href="${view.visit.base}${Redaction.addressFor(id)}">Redact messages …</a></p>`
      : undefined
  }
</section>`
}

/** The answer to its form. */
export const form = {
  name: "back-up",
  submit: ({ id }: Form.Sent) => startBackup.call({ account_id: id }),
  key: ({ action }: { readonly action: string }): string => action,
  done: { backup_queued: "The chats are checked and archived within seconds." }
}
