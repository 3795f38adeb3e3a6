/** One cleanup of the archive: what it deletes, the phrase that confirms it, and how far it is. */
import { Effect } from "effect"
import type { ArchiveCleanup } from "../../../domain/archive/ArchiveCleanup.ts"
import { superadmins } from "../../../domain/people/Access.ts"
import { cancelArchiveCleanup } from "../../../operations/archive/cancel_archive_cleanup.ts"
import { confirmArchiveCleanup } from "../../../operations/archive/confirm_archive_cleanup.ts"
import { getArchiveCleanup } from "../../../operations/archive/get_archive_cleanup.ts"
import * as Form from "../kit/Form.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import type * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import type { AdminPage } from "../kit/PageRequest.ts"
import * as Times from "../kit/Times.ts"
import * as Tabs from "../organization/OrganizationTabs.ts"
import * as StepUp from "../signin/StepUp.ts"
import * as Cleanups from "./CleanupWords.ts"
import { phraseField, phraseRefusals } from "./PhraseField.ts"

const path = `${Tabs.archiveCleanupsPath}/:cleanup_id` as const

const facts = (cleanup: ArchiveCleanup, now: number): Html.Html =>
  html`<dl class="facts">
  <dt>Deletes</dt><dd>${Cleanups.amount(cleanup)}</dd>
  <dt>Sent</dt><dd>${
    cleanup.criteria.before === null
      ? "at any time"
      : html`before ${cleanup.criteria.before.toISOString().slice(0, 10)} (UTC)`
  }</dd>
  <dt>Afterwards</dt><dd>${cleanup.stop_saving ? "nothing more of these chats is archived" : "archiving goes on"}</dd>
  <dt>Counted</dt><dd>${Times.since(cleanup.created_at, now, "")}</dd>
  ${
    cleanup.started_at === null
      ? undefined
      : html`<dt>Deleted so far</dt><dd>${cleanup.deleted_messages.toLocaleString("en")} messages</dd>`
  }
  ${
    cleanup.finished_at === null ? undefined : html`<dt>Ended</dt><dd>${Times.since(cleanup.finished_at, now, "")}</dd>`
  }
</dl>`

const consequences = [
  "Nobody can undo it. Backups keep what is deleted until they age out.",
  "What was archived after this preview stays. Titles of chats stay.",
  "It can be cancelled while it runs; what is deleted by then stays deleted."
]

const confirming = (
  view: AdminPage,
  { confirm_phrase, id }: ArchiveCleanup,
  faults: Html.Faults,
  stepUp: StepUp.Part
) =>
  confirm_phrase === null ? undefined : html`<section aria-labelledby="consequences">
  <h2 id="consequences">What will happen</h2>
  <ul>${consequences.map((text) => html`<li>${text}</li>`)}</ul>
</section>
${
    Forms.open(
      view,
      { path: Forms.addressOf(path, id), class: "card" },
      html`${phraseField(faults, confirm_phrase)}
  ${stepUp.field}
  <div class="actions"><button class="danger">Delete</button></div>`
    )
  }`

const cancelling = (view: AdminPage, { id, state }: ArchiveCleanup) =>
  state !== "previewed" && state !== "queued" && state !== "running"
    ? undefined
    : Forms.open(view, { path: `${Forms.addressOf(path, id)}/cancel` }, html`<button>Cancel the cleanup</button>`)

const show = Effect.fnUntraced(function*(view: AdminPage, id: string, outcome: Form.Outcome) {
  const cleanup = yield* getArchiveCleanup.call({ cleanup_id: id })
  const stepUp: StepUp.Part = yield* StepUp.part(view, outcome.faults)
  return yield* Frame.page(view, {
    title: "Archive cleanup",
    outcome,
    script: cleanup.state === "previewed" ? stepUp.script : undefined,
    body: html`
<p class="back"><a href="${view.visit.base}${Tabs.archiveCleanupsPath}">Archive cleanups</a></p>
<h1>Archive cleanup</h1>
${Form.notice(outcome)}
<p>${Cleanups.mark(cleanup, view.now)} ${Cleanups.begins(cleanup, view.now)}</p>
${cleanup.error === null ? undefined : html`<p>${Cleanups.stopped[cleanup.error] ?? cleanup.error}</p>`}
${facts(cleanup, view.now)}
${confirming(view, cleanup, outcome.faults, stepUp)}
${cancelling(view, cleanup)}`
  })
})

const page = Form.page({
  path,
  show,
  only: [superadmins, "The owner and superadmins delete from the archive."],
  refusals: {
    ...phraseRefusals,
    archive_held: "A hold keeps these records: nothing of them is deleted.",
    cleanup_expired: "The preview has ended: count it anew.",
    not_running: "The cleanup has ended."
  }
})

export const routes = page.routes([
  page.form({
    name: "",
    factor: "field",
    submit: ({ form, id }) =>
      confirmArchiveCleanup.call({ cleanup_id: id, confirm_phrase: form.text("confirm_phrase") }),
    key: () => "confirmed",
    done: { confirmed: "It is confirmed: the records are deleted within minutes." }
  }),
  page.form({
    name: "cancel",
    submit: ({ id }) => cancelArchiveCleanup.call({ cleanup_id: id }),
    key: () => "cancelled",
    done: { cancelled: "The cleanup is cancelled." }
  })
])
