/** The journal: who did what, when and how, with what it takes to check that nothing was changed or left out. */
import { Duration, Effect } from "effect"
import { actionNames } from "../../../domain/journal/JournalEntry.ts"
import { JournalOutcome } from "../../../domain/journal/JournalEvent.ts"
import { isUuid } from "../../../domain/JsonShapes.ts"
import type { StatusOverview } from "../../../domain/organization/StatusOverview.ts"
import { superadmins } from "../../../domain/people/Access.ts"
import { listProtectedAccounts } from "../../../operations/accounts/list_protected_accounts.ts"
import { ServedOperations } from "../../../operations/index.ts"
import { listJournalEvents } from "../../../operations/journal/list_journal_events.ts"
import { tailJournalEvents } from "../../../operations/journal/tail_journal_events.ts"
import { getStatus } from "../../../operations/organization/get_status.ts"
import { listAdmins } from "../../../operations/people/list_admins.ts"
import { Frame, html, Lists, Notices, Serving, Times } from "../kit/index.ts"
import type { AdminPage, Html, PageRequest } from "../kit/index.ts"
import * as Events from "./EventWords.ts"

const path = Events.journalPath
const pageSize = 50

/** The filter of the journal, by the query of its address. */
interface Filter {
  readonly action: string
  readonly outcome: JournalOutcome | ""
  readonly account: string
  readonly admin: string
  /** Days, the last one included. */
  readonly since: string
  readonly until: string
  /** The oldest event of the page before. */
  readonly before: string
}

const isOutcome = (text: string): text is JournalOutcome => JournalOutcome.literals.some((each) => each === text)

const midnight = (day: string): Date => new Date(`${day}T00:00:00Z`)

/** True if the text is a day as a date field sends it. */
const isDay = (text: string): boolean => {
  const year = /^([0-9]{4})-[0-9]{2}-[0-9]{2}$/.exec(text)?.[1]
  const at = midnight(text)
  return year !== undefined && Number(year) > 0 && Number(year) < 9999 && !Number.isNaN(at.getTime()) &&
    at.toISOString().startsWith(text)
}

const read = (query: string): Filter => {
  const members = new URLSearchParams(query)
  const fitting = (name: string, fits: (text: string) => boolean) => {
    const text = members.get(name) ?? ""
    return fits(text) ? text : ""
  }
  const outcome = members.get("outcome") ?? ""
  return {
    action: fitting("action", (text) => /^[a-z_]+\.(?:[a-z_]+|\*)$/.test(text)),
    outcome: isOutcome(outcome) ? outcome : "",
    account: fitting("account", isUuid),
    admin: fitting("admin", isUuid),
    since: fitting("since", isDay),
    until: fitting("until", isDay),
    before: fitting("before", isUuid)
  }
}

/** The filter as the operation takes it. */
const asked = ({ account, action, admin, before, outcome, since, until }: Filter) => ({
  limit: pageSize,
  ...(action === "" ? {} : { action }),
  ...(outcome === "" ? {} : { outcome }),
  ...(account === "" ? {} : { account_id: account }),
  ...(admin === "" ? {} : { admin_id: admin }),
  ...(since === "" ? {} : { since: midnight(since).toISOString() }),
  ...(until === ""
    ? {}
    : { before: new Date(midnight(until).getTime() + Duration.toMillis(Duration.days(1))).toISOString() }),
  ...(before === "" ? {} : { before_id: before })
})

/** Every action that there is, by the object that it is about. */
const actions = Effect.map(ServedOperations, (operations) => {
  const declared = operations.flatMap(({ journal }) => journal === undefined ? [] : [journal.action])
  return Map.groupBy([...new Set([...actionNames, ...declared])].sort(), (action) => action.split(".", 1)[0] ?? "")
})

const actionField = (groups: ReadonlyMap<string, ReadonlyArray<string>>, chosen: string): Html.Html =>
  html`<div>
    <label for="action">What</label>
    <select id="action" name="action">
      ${Lists.option("", "Everything", chosen)}
      ${
    [...groups].map(([object, names]) =>
      html`<optgroup label="${Events.worded(object)}">
        ${names.length === 1 ? undefined : Lists.option(`${object}.*`, `${Events.worded(object)}: all`, chosen)}
        ${names.map((name) => Lists.option(name, Events.worded(name), chosen))}
      </optgroup>`
    )
  }
    </select>
  </div>`

interface Person {
  readonly id: string
  readonly name: string | null
  readonly email: string
}

/** The filter by actor: one of the admins, or the one that the URL names. */
const adminField = (people: ReadonlyArray<Person>, chosen: string): Html.Html =>
  html`<div>
    <label for="admin">Who</label>
    <select id="admin" name="admin">
      ${Lists.option("", "Everybody", chosen)}
      ${people.map(({ email, id, name }) => Lists.option(id, name ?? email, chosen))}
      ${
    chosen === "" || people.some(({ id }) => id === chosen) ? undefined : Lists.option(chosen, "Another admin", chosen)
  }
    </select>
  </div>`

const dayField = (id: "since" | "until", label: string, value: string): Html.Html =>
  html`<div>
    <label for="${id}">${label}</label>
    <input type="date" id="${id}" name="${id}" value="${value}">
  </div>`

const filters = (
  view: AdminPage,
  filter: Filter,
  groups: ReadonlyMap<string, ReadonlyArray<string>>,
  people: ReadonlyArray<Person>,
  named: Events.Named
): Html.Html =>
  html`<form method="get" action="${view.visit.base}${path}" class="filters" role="search">
  ${actionField(groups, filter.action)}
  ${adminField(people, filter.admin)}
  <div>
    <label for="outcome">How it went</label>
    <select id="outcome" name="outcome">
      ${Lists.option("", "Any outcome", filter.outcome)}
      ${JournalOutcome.literals.map((outcome) => Lists.option(outcome, Events.worded(outcome), filter.outcome))}
    </select>
  </div>
  ${dayField("since", "From (UTC)", filter.since)}
  ${dayField("until", "To (UTC)", filter.until)}
  ${filter.account === "" ? undefined : html`<input type="hidden" name="account" value="${filter.account}">`}
  <button>Show</button>
</form>
${
    filter.account === "" ?
      undefined :
      html`<p class="hint">Only events of ${Events.account(view, filter.account, named)}. <a href="${
        Lists.address(`${view.visit.base}${path}`, { ...filter, account: "", before: "" })
      }">Show those of all accounts</a></p>`
  }`

/** The chain's last sequence and hash: with both, an admin can check later that nothing before was changed. */
const chain = (
  { chain_checked_at, chain_ok, last_event_at, last_sequence }: StatusOverview["journal"],
  head: string | undefined,
  now: number
): Html.Html =>
  html`<section aria-labelledby="chain" class="${chain_ok === false ? "urgent" : "quiet"}">
  <h2 id="chain">The chain</h2>
  <p class="lead">Every event holds the hash of the one before. Whoever keeps the last sequence and hash can tell later whether anything was changed or left out.</p>
  <dl class="facts">
    <dt>Last sequence</dt><dd><code>${last_sequence}</code>${
    last_event_at === null ? undefined : html`, ${Times.ago(last_event_at, now)}`
  }</dd>
    ${head === undefined ? undefined : html`<dt>Head</dt><dd><code>${head}</code></dd>`}
    <dt>Checked</dt><dd>${
    chain_ok === false
      ? html`<strong>The chain is broken.</strong> `
      : undefined
  }${Times.since(chain_checked_at, now, "Not yet by the service")}</dd>
  </dl>
</section>`

/** Sequence and hash of the newest event, for those who see the whole journal. */
const headOf = Effect.fnUntraced(function*(view: AdminPage, { last_sequence }: StatusOverview["journal"]) {
  if (!superadmins.includes(view.admin.role)) return undefined
  return (yield* tailJournalEvents.call({ after_sequence: last_sequence, limit: 1 })).head_hash
})

/** The names of ids at events; accounts of further pages are links without a name. */
export const namesOf = Effect.fnUntraced(function*(people: ReadonlyArray<Person>) {
  const { data: accounts, has_more } = yield* listProtectedAccounts.call({ limit: 100 })
  const departments = yield* Lists.departments
  const names = new Map([
    ...accounts.map(({ id, name }) => [id, name] as const),
    ...departments.map(({ id, name }) => [id, name] as const),
    ...people.map(({ email, id, name }) => [id, name ?? email] as const)
  ])
  return { names, everyAccount: !has_more }
})

const get = (visit: PageRequest) =>
  Serving.asAdmin(
    visit,
    path,
    (view) =>
      Effect.gen(function*() {
        const filter = read(visit.query)
        const { journal } = yield* getStatus.call({})
        const head = yield* headOf(view, journal)
        const { data: events, has_more } = yield* listJournalEvents.call(asked(filter))
        const entries = yield* Events.entries(view, events)
        const { data: people } = yield* listAdmins.call({ limit: 100 })
        const named = yield* namesOf(people)
        const showNotices = yield* Notices.make(view)
        const to = (members: Partial<Filter>) => Lists.address(`${visit.base}${path}`, { ...filter, ...members })
        return yield* Frame.page(view, {
          title: "Journal",
          wide: true,
          body: html`
<h1>Journal</h1>
<p class="lead">What admins, their programs and the service did, newest first${
            superadmins.includes(view.admin.role) ? "" : ", as far as it concerns you"
          }.</p>
${showNotices()}
<section aria-labelledby="events">
  <h2 id="events">Events</h2>
  ${filters(view, filter, yield* actions, people, named)}
  ${
            events.length === 0
              ? html`<p class="empty">No event fits. <a href="${visit.base}${path}">Show the whole journal</a></p>`
              : html`<ul class="plain events">${entries.map(Events.item(view, { ...named, account: true }))}</ul>`
          }
  ${
            Lists.paging({
              label: "Pages of the journal",
              first: filter.before === "" ? undefined : to({ before: "" }),
              next: has_more ? to({ before: events.at(-1)?.id ?? "" }) : undefined
            })
          }
</section>
${chain(journal, head, view.now)}`
        })
      })
  )

export const routes = [Serving.route("GET", path, get)] as const
