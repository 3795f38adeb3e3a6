/** Events of the journal in words: what was begun and what came of it are one entry. */
import { Effect } from "effect"
import type { JournalEvent } from "../../../domain/journal/JournalEvent.ts"
import { Db } from "../../../ports/Db.ts"
import { Journal } from "../../../ports/journal/Journal.ts"
import * as Statuses from "../accounts/Statuses.ts"
import { type AdminPage, Html, html, Lists, Times, transports } from "../kit/index.ts"
import * as EventDetails from "./EventDetails.ts"

/** The number of details of an event that are shown before it is opened. */
const gistDetails = 3

export const journalPath = "/console/journal"

/** Labels of actions whose names are too short to read well. */
const labels: ReadonlyMap<string, string> = new Map([
  ["account.archive_consent_set", "Agreement to archiving kept"],
  ["account.deleted", "Account deleted with its archive"],
  ["archive_rule.created", "Rule of the archive made"],
  ["archive_rule.updated", "Rule of the archive changed"],
  ["archive_rule.deleted", "Rule of the archive deleted"],
  ["archive_hold.placed", "Hold on the archive placed"],
  ["archive_hold.released", "Hold on the archive released"],
  ["archive_export.created", "Export of the archive made"],
  ["archive_export.downloaded", "Export of the archive downloaded"],
  ["archive_retention.set", "Retention of the archive set"],
  ["archive_retention.applied", "Retention of the archive counted what it deletes"],
  ["cleanup.previewed", "Cleanup of the archive previewed"],
  ["cleanup.scheduled", "Cleanup of the archive scheduled"],
  ["cleanup.confirmed", "Cleanup of the archive confirmed"],
  ["cleanup.cancelled", "Cleanup of the archive cancelled"],
  ["cleanup.finished", "Cleanup of the archive finished"],
  ["cleanup.failed", "Cleanup of the archive failed"],
  ["archive.deleted", "Archived records deleted"],
  ["archive.manifested", "Manifests of the archive made"],
  ["backup.queued", "Archiving of an account asked for"],
  ["backup.finished", "Archiving of an account finished"],
  ["backup.failed", "Archiving of an account failed"],
  ["archive.deletion_started", "Deletion of the whole archive started"],
  ["archive.held", "Legal hold on the archive placed"],
  ["archive.released", "Legal hold on the archive released"],
  ["archive.phase_changed", "Phase of the archive changed"],
  ["archive.drifted", "Archive lacked messages, which were archived"],
  ["archive.searched", "Archive searched"],
  ["archive_key.set", "Archive password set"],
  ["archive_password.failed", "Wrong archive password"],
  ["console.signed_in", "Signed in to the console"],
  ["console.signed_out", "Signed out of the console"],
  ["login.attempted", "Sign-in attempted"],
  ["session.autokilled", "Session signed out automatically"],
  ["session.detected", "New session"]
])

/** The name of an action as a person writes it. */
export const worded = (name: string): string => labels.get(name) ?? EventDetails.written(name)

const outcomes = {
  done: { tone: "good", text: "Done" },
  refused: { tone: "caution", text: "Refused" },
  failed: { tone: "danger", text: "Failed" },
  pending: { tone: "note", text: "Pending" }
} as const

const actors = {
  admin: "an admin",
  service: "the service",
  holder: "the account’s holder",
  operator: "the operator of this console"
}

/** Actors of events from outside that are not on the messenger: they gave no proof of who they are. */
const unproven: ReadonlyMap<string, string> = new Map([
  ["console_password.failed", "by a person with a wrong password"],
  ["password_reset.requested", "by a person on the sign-in page"],
  ["second_factor.failed", "by a person with a wrong second factor"]
])

/** An entry of the journal as the pages show it. */
export interface Entry {
  readonly event: JournalEvent
  /** The event that began what this one completes, where both are shown. */
  readonly begun: JournalEvent | undefined
  /** The event that completes this one, where it is on another page. */
  readonly completedBy: number | undefined
}

/** The events as entries, in their order: what a later event completes is no entry of its own. */
export const entries = Effect.fnUntraced(function*(view: AdminPage, events: ReadonlyArray<JournalEvent>) {
  const pending = new Map(events.flatMap((event) => event.outcome === "pending" ? [[event.sequence, event]] : []))
  const closed = new Set(events.map(({ closes }) => closes))
  const open = [...pending.keys()].filter((sequence) => !closed.has(sequence))
  const journal = yield* Journal
  const { organizationId } = view.admin
  const completed = open.length === 0
    ? new Map<number, number>()
    : yield* (yield* Db).read(organizationId, journal.completing(organizationId, open))
  return events.flatMap((event): ReadonlyArray<Entry> =>
    closed.has(event.sequence) ? [] : [{
      event,
      begun: event.closes === null ? undefined : pending.get(event.closes),
      completedBy: completed.get(event.sequence)
    }]
  )
})

const outcome = ({ completedBy, event }: Entry): Html.Html | undefined =>
  completedBy !== undefined
    ? Statuses.mark("off", `Completed by event ${completedBy}`)
    : event.outcome === "done"
    ? undefined
    : Statuses.mark(outcomes[event.outcome].tone, outcomes[event.outcome].text)

const filtered = (view: AdminPage, members: Readonly<Record<string, string>>): string =>
  Lists.address(`${view.visit.base}${journalPath}`, members)

/** The actor and the way. */
const by = (view: AdminPage, { action, actor, via }: JournalEvent): Html.Html => {
  if (actor.type === "external") {
    const person = unproven.get(action)
    return person === undefined ? html`from outside, on the messenger` : html`${person} ${transports[via]}`
  }
  if (actor.admin_id === null) return html`by ${actor.name === null ? actors[actor.type] : Html.named(actor.name)}`
  const name = Html.named(actor.name ?? actors.admin)
  return html`by <a href="${filtered(view, { admin: actor.admin_id })}">${name}</a> ${transports[via]}`
}

const fact = (name: string, value: Html.Value): Html.Html => html`<dt>${name}</dt><dd>${value}</dd>`

const exact = (value: string | number): Html.Html => html`<code>${value}</code>`

const known = (name: string, value: string | number | null): Html.Html | undefined =>
  value === null ? undefined : fact(name, exact(value))

/** The credential that was used, by its label. */
const credential = ({ id, kind, label }: NonNullable<JournalEvent["credential"]>): Html.Html =>
  kind === "console" ? html`Console session ${exact(id)}` : html`${credentials[kind]} ${Html.named(label)} ${exact(id)}`

const credentials = { api_key: "API key", token: "Token", oauth: "Application" }

/** All details of the event, with its hashes, in a part that opens. */
const details = (event: JournalEvent, names: EventDetails.Names, isOpen = false): Html.Html => {
  const target = event.target === null ? undefined : names.get(event.target.id)
  return html`<details id="e${event.sequence}"${
    isOpen ? " open" : ""
  }><summary>Details of event ${event.sequence}</summary><dl class="facts">
    ${
    EventDetails.all(event, names).map(({ exact: stored, label, shown }) =>
      fact(label, html`${shown}${stored === null ? undefined : html` <bdi>${exact(stored)}</bdi>`}`)
    )
  }
    ${fact("Action", exact(event.action))}
    ${fact("Time", html`${Html.momentOf(event.at)} ${exact(event.at.toISOString())}`)}
    ${event.credential === null ? undefined : fact("With", credential(event.credential))}
    ${
    event.target === null ? undefined : fact(
      worded(event.target.type),
      html`${target === undefined ? undefined : html`${Html.named(target)} `}${exact(event.target.id)}`
    )
  }
    ${known("Address", event.ip)}
    ${known("Request", event.request_id)}
    ${known("Completes event", event.closes)}
    ${fact("Sequence", exact(event.sequence))}
    ${fact("Hash", exact(event.hash))}
    ${fact("Hash before", exact(event.prev_hash))}
  </dl></details>`
}

/** The most important details in one line; all of them are below. */
const gist = (event: JournalEvent, names: EventDetails.Names): Html.Html | undefined => {
  const facts = EventDetails.all(event, names).slice(0, gistDetails)
  return facts.length === 0 ?
    undefined :
    html`<p class="gist">${facts.map(({ label, shown }, at) => html`${at === 0 ? "" : " · "}${label}: ${shown}`)}</p>`
}

export interface Named {
  /** The names of the ids of accounts, departments and admins. */
  readonly names: EventDetails.Names
  /** True if every account that can be opened is among them. */
  readonly everyAccount?: boolean
}

/** An account, as a link where it can be opened. */
export const account = (view: AdminPage, id: string, { everyAccount, names }: Named): Html.Html => {
  const name = names.get(id)
  if (name === undefined && everyAccount === true) return html`an account that cannot be opened any more`
  return html`<a href="${view.visit.base}/console/accounts/${id}">${
    name === undefined ? "Account" : Html.named(name)
  }</a>`
}

interface EventSentence extends Named {
  /** True if it shows the account that it concerns. */
  readonly account: boolean
  /** True where its details are shown at first. */
  readonly open?: boolean
}

/** One entry. */
export const item = (view: AdminPage, shown: EventSentence) => (entry: Entry): Html.Html => {
  const { begun, event } = entry
  return html`<li>
  <div class="head"><h3>${worded(event.action)}${
    !shown.account || event.account_id === null
      ? undefined
      : html`: ${account(view, event.account_id, shown)}`
  }</h3>${outcome(entry)}</div>
  ${gist(event, shown.names)}
  <p class="hint"><a href="${view.visit.base}${journalPath}/${event.id}">${Times.ago(event.at, view.now)}</a> ${
    by(view, begun ?? event)
  }</p>
  ${details(event, shown.names, shown.open)}
  ${begun === undefined ? undefined : details(begun, shown.names)}
</li>`
}
