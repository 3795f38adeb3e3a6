/** One event of the journal, with all its details. */
import { Effect } from "effect"
import { getJournalEvent } from "../../../operations/journal/get_journal_event.ts"
import { listAdmins } from "../../../operations/people/list_admins.ts"
import { Frame, html, type PageRequest, PageRequests, Serving } from "../kit/index.ts"
import * as Events from "./EventWords.ts"
import * as Journal from "./JournalPage.ts"

const path = `${Events.journalPath}/:event_id` as const

const get = (visit: PageRequest) =>
  Serving.asAdmin(visit, visit.path, (view) =>
    Effect.gen(function*() {
      const event = yield* getJournalEvent.call({ event_id: yield* PageRequests.idOf(visit, "event_id") })
      const { data: people } = yield* listAdmins.call({ limit: 100 })
      const named = yield* Journal.namesOf(people)
      const entries = yield* Events.entries(view, [event])
      return yield* Frame.page(view, {
        title: `Event ${event.sequence}`,
        body: html`
<p class="back"><a href="${visit.base}${Events.journalPath}">Journal</a></p>
<h1>Event ${event.sequence}</h1>
<section aria-labelledby="happened">
  <h2 id="happened">What happened</h2>
  <ul class="plain events">${entries.map(Events.item(view, { ...named, account: true, open: true }))}</ul>
</section>`
      })
    }))

export const routes = [Serving.route("GET", path, get)] as const
