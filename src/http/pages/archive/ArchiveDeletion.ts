/** Deleting everything that the organization has archived. */
import { Effect } from "effect"
import { confirmPhrase } from "../../../domain/archive/ConfirmPhrase.ts"
import type { Organization } from "../../../domain/organization/Organization.ts"
import { deleteWholeArchive } from "../../../operations/archive/delete_whole_archive.ts"
import { getOrganization } from "../../../operations/organization/get_organization.ts"
import * as Form from "../kit/Form.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import type * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import type { AdminPage } from "../kit/PageRequest.ts"
import * as StepUp from "../signin/StepUp.ts"
import { phraseField, phraseRefusals } from "./PhraseField.ts"

const organizationPath = "/console/organization"
const path = `${organizationPath}/delete-archive` as const

/** The phases in which there is nothing to delete, or nothing may be. */
const without: Partial<Record<Organization["archive"]["phase"], string>> = {
  empty: "Nothing is archived.",
  deleted: "The archive is deleted.",
  deleting: "The archive is being deleted: nothing of it can be read any more.",
  held: "A legal hold keeps the archive: nothing of it is deleted."
}

/** The way to the page, on that of the organization. */
export const section = (view: AdminPage, { phase }: Organization["archive"]): Html.Html | undefined => {
  if (!deleteWholeArchive.roles.some((role) => role === view.admin.role)) return undefined
  const nothing = without[phase]
  return html`<section aria-labelledby="deletion">
  <h2 id="deletion">Deletion of the archive</h2>
  ${
    nothing === undefined
      ? html`<p>Everything that is archived of all accounts. The next page says what deleting it means.</p>
  <p><a class="button danger" href="${view.visit.base}${path}">Delete the whole archive …</a></p>`
      : html`<p>${nothing}</p>`
  }
</section>`
}

const consequences = [
  "What is archived of every account can be read by nobody from this moment on, whatever they know, and is deleted soon after. Backups keep it until they age out.",
  "The archive password opens nothing any more. Nothing is archived before a new one is set.",
  "The accounts stay, and stay protected. The journal stays.",
  "Nobody can undo it."
]

const form = (view: AdminPage, phrase: string, faults: Html.Faults, stepUp: StepUp.Part): Html.Html =>
  Forms.open(
    view,
    { path, class: "card" },
    html`${phraseField(faults, phrase)}
  ${stepUp.field}
  <div class="actions">
    <button class="danger">Delete the whole archive</button>
    <a class="button" href="${view.visit.base}${organizationPath}">Cancel</a>
  </div>`
  )

const show = Effect.fnUntraced(function*(view: AdminPage, _: string, outcome: Form.Outcome) {
  const { archive, id } = yield* getOrganization.call({})
  const nothing = without[archive.phase]
  const stepUp: StepUp.Part = yield* StepUp.part(view, outcome.faults)
  const phrase = confirmPhrase({ kind: "archive", organizationId: id })
  return yield* Frame.page(view, {
    title: "Delete the whole archive",
    outcome,
    script: nothing === undefined ? stepUp.script : undefined,
    body: html`
<p class="back"><a href="${view.visit.base}${organizationPath}">The organization</a></p>
<h1>Delete the whole archive</h1>
${Form.notice(outcome)}
${
      nothing === undefined
        ? html`<section aria-labelledby="consequences">
  <h2 id="consequences">What will happen</h2>
  <ul>${consequences.map((text) => html`<li>${text}</li>`)}</ul>
</section>
${form(view, phrase, outcome.faults, stepUp)}`
        : html`<p class="empty">${nothing}</p>`
    }`
  })
})

const page = Form.page({
  path,
  show,
  only: [deleteWholeArchive.roles, "The owner deletes the archive."],
  refusals: phraseRefusals
})

export const routes = page.routes([
  page.form({
    name: "",
    factor: "field",
    submit: ({ form }) => deleteWholeArchive.call({ confirm_phrase: form.text("confirm_phrase") }),
    next: () => `${organizationPath}?done=archive_deletion_started`
  })
])
