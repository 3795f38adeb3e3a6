/** The archive of an account on its page: what is saved, how far a run is, and asking for one. */
import { Effect } from "effect"
import { type AccountDetail, AccountId } from "../../../domain/accounts/Account.ts"
import { backupRefusal } from "../../../domain/archive/BackupRequest.ts"
import { archiveReaders, Caller, superadmins } from "../../../domain/people/Access.ts"
import { startBackup } from "../../../operations/archive/start_backup.ts"
import { Accounts } from "../../../ports/accounts/Accounts.ts"
import { CaptureStore } from "../../../ports/archive/CaptureStore.ts"
import { type FailedFiles, WaitingFiles } from "../../../ports/archive/WaitingFiles.ts"
import { Db } from "../../../ports/Db.ts"
import { Organizations } from "../../../ports/organization/Organizations.ts"
import type * as Form from "../kit/Form.ts"
import * as Forms from "../kit/Forms.ts"
import type * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import type { AdminPage } from "../kit/PageRequest.ts"
import * as Times from "../kit/Times.ts"
import * as Tabs from "../organization/OrganizationTabs.ts"
import * as Cleanups from "./ArchiveCleanupList.ts"
import * as Exports from "./ArchiveExportList.ts"
import * as Holds from "./ArchiveHoldList.ts"
import * as Redaction from "./ArchiveRedaction.ts"
import * as Rules from "./ArchiveRuleList.ts"
import * as Viewer from "./ArchiveViewer.ts"
import * as Progress from "./BackupProgress.ts"
import { size } from "./ExportWords.ts"
import { failedFiles, savingState } from "./SavingWords.ts"

const count = (value: number) => value.toLocaleString("en")

/** A chat's title is sealed, so that its decision is made where the archive is opened. */
const toReview = (view: AdminPage, id: string, chats: number): Html.Html => {
  const text = `${count(chats)} to review`
  return html`, ${
    view.admin.readsArchive ? html`<a href="${view.visit.base}${Viewer.addressFor(id)}">${text}</a>` : text
  }`
}

const facts = (
  view: AdminPage,
  { archive, id }: AccountDetail,
  failed: ReadonlyArray<FailedFiles>,
  unsafe: number
): Html.Html => {
  const { bytes, chats, last_backup_at, live_archive, media, messages, next_backup_at, saving } = archive
  return html`<dl class="facts">
    <dt>Chats</dt><dd>${count(chats.discovered)} found, ${count(chats.selected)} selected, ${
    count(chats.with_data)
  } with messages, ${count(chats.complete)} complete${
    chats.review === 0 ? undefined : toReview(view, id, chats.review)
  }${saving.stopped_chats === 0 ? undefined : html`, ${count(saving.stopped_chats)} stopped by a cleanup`}</dd>
    ${
    unsafe === 0
      ? undefined
      : html`<dt>Not safe</dt><dd>${
        Progress.chats(unsafe)
      } whose messages may disappear before the nightly check. <a href="${view.visit.base}${Tabs.archiveRulesPath}">Archive their new messages as they
      arrive.</a></dd>`
  }
    <dt>Messages</dt><dd>${count(messages)}</dd>
    <dt>Files</dt><dd>${count(media)}</dd>
    ${failed.length === 0 ? undefined : html`<dt>Files not saved</dt><dd>${failedFiles(failed)}</dd>`}
    <dt>Size</dt><dd>${size(bytes)}</dd>
    <dt>New messages</dt><dd>${live_archive ? "As they arrive" : "With the nightly check"}</dd>
    <dt>Last saved</dt><dd>${Times.since(saving.last_sync_at, view.now, "Not yet")}</dd>
    <dt>Checked in full</dt><dd>${Times.since(last_backup_at, view.now, "Not yet")}</dd>
    ${next_backup_at === null ? undefined : html`<dt>Next check</dt><dd>${Times.when(next_backup_at, view.now)}</dd>`}
  </dl>`
}

/** True if the admin sees a run of which more can be said soon. */
export const isChanging = ({ admin }: AdminPage, { archive }: AccountDetail): boolean =>
  archiveReaders.includes(admin.role) && Progress.isUnderWay(archive)

/** The section of the account's page; none for roles that do not read archives. */
export const section = Effect.fnUntraced(function*(view: AdminPage, account: AccountDetail) {
  const { archive, id } = account
  if (!archiveReaders.includes(view.admin.role)) return undefined
  const caller = yield* Caller
  const { organizationId } = caller
  const accountId = AccountId.make(id)
  const accounts = yield* Accounts
  const files = yield* WaitingFiles
  const ref = { organizationId, accountId }
  const store = yield* CaptureStore
  const organizations = yield* Organizations
  const { failed, found, messages, organization, unsafe } = yield* (yield* Db).read(
    organizationId,
    Effect.all({
      organization: organizations.facts(caller),
      found: accounts.find(caller, accountId, false),
      messages: archive.phase === "messages" ? store.messagesRead(ref) : Effect.succeed(null),
      failed: files.failed(ref),
      unsafe: store.unsafe(ref, new Date(view.now))
    })
  )
  return html`
<section aria-labelledby="archive">
  <h2 id="archive">Archive</h2>
  ${savingState(view, account)}
  ${found === null ? undefined : Progress.progress(archive, { ...found, messages }, view.now)}
  ${facts(view, account, failed, unsafe)}
  <p class="hint"><a href="${view.visit.base}${Tabs.archiveRulesPath}#not-archived">What cannot be archived</a></p>
  ${
    found === null || backupRefusal(found, organization, new Date(view.now)) !== null
      ? undefined
      : Forms.open(view, { path: `/console/accounts/${id}/back-up` }, html`<button>Back up now</button>`)
  }
  ${
    view.admin.readsArchive
      ? html`<p><a href="${view.visit.base}${Exports.addressFor(id)}">Export it …</a> <a href="${view.visit.base}${
        Rules.addressFor(id)
      }">Make a rule for it …</a></p>`
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
})

/** The answer to its form. */
export const form = {
  name: "back-up",
  submit: ({ id }: Form.Sent) => startBackup.call({ account_id: id }),
  key: ({ action }: { readonly action: string }): string => action,
  done: { backup_queued: "The chats are checked and archived within seconds." }
}
