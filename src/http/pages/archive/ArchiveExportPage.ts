/** One export of the archive: its parts, their download by the archive password, and how far and what each download was. */
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { type ArchiveExport, ExportId, partFileName } from "../../../domain/archive/ArchiveExport.ts"
import { writtenFrom } from "../../../domain/FileSizes.ts"
import { Caller } from "../../../domain/people/Access.ts"
import { downloadArchiveExportPart } from "../../../operations/archive/download_archive_export_part.ts"
import { getArchiveExport } from "../../../operations/archive/get_archive_export.ts"
import { listAccounts } from "../../../operations/archive/list_accounts.ts"
import * as Contents from "../../Contents.ts"
import * as Fields from "../kit/Fields.ts"
import * as Form from "../kit/Form.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Lists from "../kit/Lists.ts"
import type { AdminPage } from "../kit/PageRequest.ts"
import type * as SentForm from "../kit/SentForm.ts"
import * as Times from "../kit/Times.ts"
import * as Tabs from "../organization/OrganizationTabs.ts"
import * as Downloads from "./DownloadWords.ts"
import * as ExportProgress from "./ExportProgressPage.ts"
import * as Words from "./ExportWords.ts"
import * as Scripts from "./ViewerScripts.ts"

const path = `${Tabs.archiveExportsPath}/:export_id` as const

/** Parts on one page. */
const partsPerPage = 100
/** Accounts whose parts have their names. */
const accountsNamed = 100

type Names = ReadonlyMap<string, string>

const facts = (made: ArchiveExport, now: number): Html.Html =>
  html`<dl class="facts">
  <dt>Holds</dt><dd>${Words.amount(made)}${made.media ? "" : ", files left out"}</dd>
  <dt>Format</dt><dd>${Words.formats[made.format]}</dd>
  <dt>Sent</dt><dd>${Words.days(made.criteria)} (UTC)</dd>
  <dt>Chats</dt><dd>${made.criteria.chat_ids === null ? "all" : String(made.criteria.chat_ids.length)} of ${
    made.criteria.account_ids.length === 1 ? "1 account" : `${made.criteria.account_ids.length} accounts`
  }</dd>
  <dt>Made</dt><dd>${Times.since(made.created_at, now, "")}: what is archived later is not in it</dd>
  <dt>Downloaded</dt><dd><span data-count>${
    String(made.parts.filter(({ bytes }) => bytes !== null).length)
  }</span> of ${Words.counted(made.part_count, "part")}</dd>
  <dt>${made.state === "ready" ? "Can be downloaded until" : "Ended"}</dt><dd>${
    made.expires_at.toISOString().slice(0, 10)
  }</dd>
</dl>`

/** The download of a part, as the script keeps it current. */
const download = (view: AdminPage, made: ArchiveExport, part: Downloads.Part): Html.Html => {
  const line = Downloads.lineOf(part)
  const sent = Downloads.sentOf(part)
  const isRunning = line?.isRunning === true
  const hidden = (is: boolean) => is ? html` hidden` : undefined
  return html`<div data-part="${part.number}" data-running="${isRunning ? "yes" : "no"}" data-at="${
    part.downloaded_at?.getTime() ?? 0
  }"${
    part.bytes_estimate < writtenFrom
      ? undefined
      : html` data-file="${partFileName(made.id, part.number, made.part_count)}"`
  }>
    <p data-text${hidden(line === null)}>${line?.text}</p>
    <progress aria-label="Part ${part.number}, bytes" max="${line?.total ?? 1}" value="${line?.done ?? 0}"${
    hidden(!isRunning)
  }></progress>
    <p class="hint" data-sent${hidden(sent === null)}>Downloaded ${
    Times.since(part.downloaded_at, view.now, "")
  } ${sent}</p>
    <p class="hint" data-digest${hidden(sent === null)}>SHA-256 <code>${part.sha256}</code></p>
  </div>`
}

const row = (view: AdminPage, made: ArchiveExport, names: Names) => (part: Downloads.Part): Html.Html =>
  html`<li>
  <div class="head">
    <div>
      <h3>Part ${part.number}</h3>
      <p class="hint"><a href="${view.visit.base}/console/accounts/${part.account_id}">${
    Html.named(names.get(part.account_id) ?? "Account")
  }</a>, ${part.first_day === part.last_day ? part.first_day : `${part.first_day} to ${part.last_day}`}; ${
    Words.amount(part)
  }, about ${Words.size(part.bytes_estimate)}</p>
    </div>
    ${
    made.state === "ready"
      ? html`<button name="number" value="${part.number}">Download part ${part.number}</button>`
      : undefined
  }
  </div>
  ${download(view, made, part)}
</li>`

const downloads = (
  view: AdminPage,
  made: ArchiveExport,
  parts: ReadonlyArray<Downloads.Part>,
  names: Names,
  faults: Html.Faults
): Html.Html => {
  const isReady = made.state === "ready"
  const events = `${view.visit.base}${Tabs.archiveExportsPath}/${made.id}/events`
  const list = html`<ul class="plain" data-downloads="${events}">${parts.map(row(view, made, names))}</ul>`
  return html`<section aria-labelledby="parts">
  <h2 id="parts">Parts</h2>
  <p class="hint" role="status" data-status></p>
  <noscript><p><a href="${view.visit.base}${
    ExportProgress.addressOf(made.id)
  }">The progress of downloads</a> is a page of its own, which loads again by itself while a part is being sent.</p></noscript>
  ${
    isReady
      ? Forms.open(
        view,
        { path: `${Forms.addressOf(path, made.id)}/download` },
        html`${
          Fields.password(faults, {
            label: "Archive password",
            hint: "The parts are made while they are sent. It stays in this page for the next part, and is not kept.",
            autocomplete: "off"
          })
        }
    ${list}`
      )
      : list
  }
</section>`
}

const command = (label: string, text: string): Html.Html =>
  html`<pre class="block" tabindex="0" role="region" aria-label="${label}"><code translate="no">security-console archive ${text}</code></pre>`

const proof = (view: AdminPage, { id, part_count }: ArchiveExport): Html.Html =>
  html`<section aria-labelledby="command">
  <h2 id="command">By command</h2>
  <p>This goes on with a part that broke off, and leaves out what the folder has already. So does this page with parts of more than 32 MB, in browsers that let it write them to a file; other downloads of a browser begin again.</p>
  ${command("Command of the download", `export --url ${view.visit.site.baseUrl.replace(/\/$/, "")} --export ${id}`)}
  <p>This checks a downloaded part against its manifest, offline and without a password; its help says how the journal proves the manifest. A part is the same bytes each time, unless something of it was deleted meanwhile.</p>
  ${command("Command of the check", `verify-export ${partFileName(id, 1, part_count)}`)}
</section>`

const show = Effect.fnUntraced(function*(view: AdminPage, id: string, outcome: Form.Outcome) {
  const { accounts, made } = yield* Effect.all({
    accounts: listAccounts.call({ limit: accountsNamed }),
    made: getArchiveExport.call({ export_id: ExportId.make(id) })
  }, { concurrency: "unbounded" })
  const { base, query } = view.visit
  const address = `${base}${Forms.addressOf(path, id)}`
  const asked = Number(new URLSearchParams(query).get("after") ?? "0")
  const after = Number.isSafeInteger(asked) && asked > 0 ? asked : 0
  const parts = made.parts.filter(({ number }) => number > after).slice(0, partsPerPage)
  const last = parts.at(-1)?.number ?? 0
  return yield* Frame.page(view, {
    title: "Archive export",
    outcome,
    ...(made.state === "ready" ? yield* Scripts.downloads(view.visit.site.baseUrl) : {}),
    body: html`
<p class="back"><a href="${base}${Tabs.archiveExportsPath}">Archive exports</a></p>
<h1>Archive export</h1>
${Form.notice(outcome)}
${facts(made, view.now)}
${downloads(view, made, parts, new Map(accounts.data.map(({ id, name }) => [id, name])), outcome.faults)}
${
      Lists.paging({
        label: "Pages of parts",
        first: after === 0 ? undefined : address,
        next: last > 0 && last < made.part_count ? Lists.address(address, { after: String(last) }) : undefined
      })
    }
${made.state === "ready" ? proof(view, made) : undefined}`
  })
})

const page = Form.page({
  path,
  show,
  refusals: {
    archive_password_required: ["password", "Enter the archive password."],
    archive_password_invalid: ["password", "This is not the archive password."],
    too_many_attempts: ["password", "Too many wrong passwords: try again later."],
    service_unavailable:
      "The service makes as many parts, or checks as many passwords, as it can at a time. Try again in a moment.",
    export_expired: "The export has ended: make it again.",
    no_archive_key: "The organization has no archive password.",
    archive_closed: "The organization's archive is closed."
  }
})

/** The part as a file, made by the password of this request alone. */
const send = Effect.fnUntraced(function*(id: string, form: SentForm.Form) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const caller = yield* Caller
  const opening = Caller.of({ ...caller, extras: { archivePassword: form.secret("password") } })
  const content = yield* downloadArchiveExportPart.call({
    export_id: ExportId.make(id),
    number: Number(form.text("number")),
    ...(form.text("after_bytes") === "" ? {} : {
      after_bytes: Number(form.text("after_bytes")),
      after_sha256: form.text("after_sha256")
    })
  }).pipe(Effect.provideService(Caller, opening))
  return yield* Contents.respond(content, request, caller, {})
})

export const routes = page.routes([
  page.form({
    name: "download",
    submit: ({ form, id }) => send(id, form),
    next: (file) => file
  })
])
