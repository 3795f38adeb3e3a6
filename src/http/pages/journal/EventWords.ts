/** Events of the journal in words. */
import type { JournalEvent } from "../../../domain/journal/JournalEvent.ts"
import * as Statuses from "../accounts/Statuses.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import * as Lists from "../kit/Lists.ts"
import { transports } from "../kit/PageNotices.ts"
import * as Times from "../kit/Times.ts"
import type * as Visit from "../kit/Visit.ts"
import * as EventDetails from "./EventDetails.ts"

/** How many details of an event are shown before it is opened. */
const gistDetails = 3

export const journalPath = "/console/journal"

/** Labels of actions whose names are too short to read well. */
const labels: ReadonlyMap<string, string> = new Map([
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

const outcome = (event: JournalEvent): Html.Html =>
  Statuses.mark(outcomes[event.outcome].tone, outcomes[event.outcome].text)

const actors = {
  admin: "an admin",
  service: "the service",
  holder: "the account’s holder",
  external: "somebody on the messenger",
  operator: "the operator of this console"
}

const filtered = (view: Visit.View, members: Readonly<Record<string, string>>): string =>
  Lists.address(`${view.visit.base}${journalPath}`, members)

const by = (view: Visit.View, { actor }: JournalEvent): Html.Html =>
  actor.admin_id === null
    ? html`by ${actor.name === null ? actors[actor.type] : Html.named(actor.name)}`
    : html`by <a href="${filtered(view, { admin: actor.admin_id })}">${Html.named(actor.name ?? actors.admin)}</a>`

const fact = (name: string, value: Html.Value): Html.Html => html`<dt>${name}</dt><dd>${value}</dd>`

const exact = (value: string | number): Html.Html => html`<code>${value}</code>`

const known = (name: string, value: string | number | null): Html.Html | undefined =>
  value === null ? undefined : fact(name, exact(value))

/** The credential that was used, by its label. */
const credential = ({ id, kind, label }: NonNullable<JournalEvent["credential"]>): Html.Html =>
  kind === "console" ? html`Console session ${exact(id)}` : html`${credentials[kind]} ${Html.named(label)} ${exact(id)}`

const credentials = { api_key: "API key", token: "Token", oauth: "Application" }

/** All details of the event, with its hashes. */
const details = (event: JournalEvent, names: EventDetails.Names): Html.Html => {
  const target = event.target === null ? undefined : names.get(event.target.id)
  return html`<dl class="facts">
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
  </dl>`
}

/** The most important details in one line; all of them are below. */
const gist = (event: JournalEvent, names: EventDetails.Names): Html.Html | undefined => {
  const facts = EventDetails.all(event, names).slice(0, gistDetails)
  return facts.length === 0 ?
    undefined :
    html`<p class="gist">${facts.map(({ label, shown }, at) => html`${at === 0 ? "" : " · "}${label}: ${shown}`)}</p>`
}

const account = (view: Visit.View, id: string, names: EventDetails.Names): Html.Html => {
  const name = names.get(id)
  return html`<a href="${view.visit.base}/console/accounts/${id}">${
    name === undefined ? "Account" : Html.named(name)
  }</a>`
}

interface Shown {
  /** What the ids of accounts, departments and admins are called. */
  readonly names: EventDetails.Names
  /** Whether it shows the account that it concerns. */
  readonly account: boolean
}

/** One event. */
export const item = (view: Visit.View, shown: Shown) => (event: JournalEvent): Html.Html =>
  html`<li id="e${event.sequence}">
  <div class="head"><h3>${worded(event.action)}${
    !shown.account || event.account_id === null
      ? undefined
      : html`: ${account(view, event.account_id, shown.names)}`
  }</h3>${event.outcome === "done" ? undefined : outcome(event)}</div>
  ${gist(event, shown.names)}
  <p class="hint">${Times.ago(event.at, view.now)} ${by(view, event)} ${
    event.actor.type === "admin" ? transports[event.via] : ""
  }</p>
  <details><summary>Details of event ${event.sequence}</summary>${details(event, shown.names)}</details>
</li>`
