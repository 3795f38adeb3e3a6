/** The first page after a sign-in: what needs attention, the most urgent first, and the numbers of the day. */
import { Effect } from "effect"
import type { StatusOverview } from "../../../domain/organization/StatusOverview.ts"
import { getStatus } from "../../../operations/organization/get_status.ts"
import { Outbox } from "../../../ports/mail/Outbox.ts"
import * as Statuses from "../accounts/Statuses.ts"
import * as Frame from "../kit/Frame.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import { home } from "../kit/Navigation.ts"
import * as Notices from "../kit/PageNotices.ts"
import type { PageRequest } from "../kit/PageRequest.ts"
import * as Refresh from "../kit/Refresh.ts"
import * as Serving from "../kit/Serving.ts"
import { readArchiveState } from "./ArchiveMatters.ts"
import { mattersOf } from "./Attention.ts"
import type { Matter } from "./Matter.ts"

const words = { danger: "Urgent", caution: "Soon", note: "When there is time" } as const

const item = (base: string) => ({ action, text, title, to, tone }: Matter): Html.Html =>
  html`<li class="status-card is-${tone}">
  <div class="head"><h3>${title}</h3> ${Statuses.mark(tone, words[tone])}</div>
  <p>${text}</p>
  <p><a href="${base}${to}">${action}</a></p>
</li>`

const list = (base: string, matters: ReadonlyArray<Matter>): Html.Html =>
  html`<section aria-labelledby="attention">
  <h2 id="attention">${
    matters.length === 0
      ? "Nothing needs your attention"
      : matters.length === 1
      ? "One matter needs attention"
      : `${matters.length} matters need attention`
  }</h2>
  ${
    matters.length === 0
      ? html`<p>${
        Statuses.mark("good", "All is well")
      } Accounts are protected as far as you can see them, and messages are saved where they are to be.</p>`
      : html`<ol class="matters">${matters.map(item(base))}</ol>`
  }
</section>`

const tile = (base: string, to: string, count: number, text: string): Html.Html =>
  html`<li><a href="${base}${to}" class="is-note"><strong>${
    count.toLocaleString("en")
  }</strong> <span>${text}</span></a></li>`

const numbers = (base: string, { journal, protection, saving }: StatusOverview): Html.Html => {
  const all = Object.values(protection.accounts).reduce((sum, count) => sum + count, 0)
  return html`<ul class="tiles" aria-label="Numbers">
  ${tile(base, "/console/accounts", all, all === 1 ? "account" : "accounts")}
  ${tile(base, "/console/accounts?status=protected#list", protection.accounts["protected"] ?? 0, "protected")}
  ${saving.state === "off" ? undefined : tile(base, "/console/accounts", saving.saving, "saving new messages")}
  ${tile(base, "/console/journal", journal.last_sequence, "events in the journal")}
</ul>`
}

const get = (visit: PageRequest) =>
  Serving.asAdmin(visit, home, (view) =>
    Effect.gen(function*() {
      const overview = yield* getStatus.call({})
      const sendsMail = (yield* Outbox).available
      const showNotices = yield* Notices.make(view)
      const { organizationName, readsArchive, role } = view.admin
      const viewer = { role, readsArchive, sendsMail }
      const archive = yield* readArchiveState(viewer, overview.generated_at)
      return yield* Frame.page(view, {
        title: "Overview",
        script: Refresh.addressAt(visit.site),
        body: html`
<h1>${Html.named(organizationName)}</h1>
${Refresh.control()}
${showNotices()}
${list(visit.base, mattersOf(overview, viewer, archive))}
${numbers(visit.base, overview)}`
      })
    }))

export const routes = [Serving.route("GET", home, get)] as const
