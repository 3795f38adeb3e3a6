/**
 * The progress of an export's downloads without a script: a page with nothing to fill in, which the browser loads again
 * by itself while a part is being sent.
 */
import { Effect } from "effect"
import { ExportId } from "../../../domain/archive/ArchiveExport.ts"
import { getArchiveExport } from "../../../operations/archive/get_archive_export.ts"
import * as Bars from "../kit/Bars.ts"
import * as Forms from "../kit/Forms.ts"
import * as Frame from "../kit/Frame.ts"
import type * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Lists from "../kit/Lists.ts"
import { type AdminPage, idOf, type PageRequest } from "../kit/PageRequest.ts"
import * as Refresh from "../kit/Refresh.ts"
import * as Serving from "../kit/Serving.ts"
import * as Times from "../kit/Times.ts"
import * as Tabs from "../organization/OrganizationTabs.ts"
import * as Downloads from "./DownloadWords.ts"

const path = `${Tabs.archiveExportsPath}/:export_id/progress` as const

export const addressOf = (exportId: string): string => Forms.addressOf(path, exportId)

const seconds = 5

const row = (now: number) => (part: Downloads.Part): Html.Html => {
  const line = Downloads.lineOf(part)
  const sent = Downloads.sentOf(part)
  return html`<li>
  <h2>Part ${part.number}</h2>
  ${line === null ? undefined : html`<p>${line.text}</p>`}
  ${line?.isRunning === true ? Bars.bar(`Part ${part.number}, bytes`, line.done, line.total) : undefined}
  ${
    sent === null
      ? undefined
      : html`<p class="hint">Downloaded ${Times.since(part.downloaded_at, now, "")} ${sent}</p>`
  }
</li>`
}

const show = Effect.fnUntraced(function*(view: AdminPage, id: string) {
  const { base, query } = view.visit
  const made = yield* getArchiveExport.call({ export_id: ExportId.make(id) })
  const begun = made.parts.filter((part) => part.latest_download !== null)
  const isRunning = begun.some((part) => Downloads.lineOf(part)?.isRunning)
  const stays = new URLSearchParams(query).has("stay")
  const own = `${base}${addressOf(id)}`
  const again = Lists.address(own, { [Refresh.unattended]: "1" })
  return yield* Frame.page(view, {
    title: "Downloads of an export",
    headers: isRunning && !stays ? { refresh: `${seconds}; url=${again}` } : {},
    body: html`
<p class="back"><a href="${base}${Tabs.archiveExportsPath}/${id}">Archive export</a></p>
<h1>Downloads of an export</h1>
<p class="hint">${
      isRunning
        ? stays
          ? html`<a href="${own}">Load this page every ${seconds} seconds</a>`
          : html`This page loads again every ${seconds} seconds. <a href="${
            Lists.address(own, { stay: "1" })
          }">Stop that</a>`
        : html`Nothing is being sent now. <a href="${own}">Load this page again</a>`
    }</p>
${
      begun.length === 0
        ? html`<p class="empty">No part was downloaded yet.</p>`
        : html`<ul class="plain">${begun.map(row(view.now))}</ul>`
    }`
  })
})

const get = (visit: PageRequest) =>
  Effect.flatMap(
    idOf(visit, "export_id"),
    (id) => Serving.asAdmin(visit, addressOf(id), (view) => show(view, id))
  )

export const routes = [Serving.route("GET", path, get)] as const
