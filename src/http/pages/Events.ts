/** Events of the journal in words. */
import { shownName } from "../../domain/ClientName.ts"
import type { JournalEvent } from "../../domain/JournalEvent.ts"
import * as Html from "./Html.ts"
import { html } from "./Html.ts"
import * as Lists from "./Lists.ts"
import { ways } from "./Notices.ts"
import * as Statuses from "./Statuses.ts"
import * as Times from "./Times.ts"
import type * as Visit from "./Visit.ts"

/** How many details of an event are told before it is opened. */
const gistDetails = 3

export const journalPath = "/console/journal"

const spelled: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bapi\b/g, "API"],
  [/\bai\b/g, "AI"],
  [/\boauth\b/g, "OAuth"],
  [/\btwo fa\b/g, "two-factor authentication"],
  [/\bsign (in|out|up)\b/g, "sign-$1"]
]

/** Actions whose names say less than a person wants to read. */
const told: ReadonlyMap<string, string> = new Map([
  ["console.signed_in", "Signed in to the console"],
  ["console.signed_out", "Signed out of the console"],
  ["login.attempted", "Sign-in attempted"],
  ["session.autokilled", "Session signed out automatically"],
  ["session.detected", "New session"]
])

/** The name of an action or a detail as a person writes it: `session.signed_out` is “Session signed out”. */
export const worded = (name: string): string => {
  const other = told.get(name)
  if (other !== undefined) return other
  const text = spelled.reduce((all, [found, by]) => all.replaceAll(found, by), name.replaceAll(/[._]/g, " "))
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

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

const known = (name: string, value: string | number | null): Html.Html | undefined =>
  value === null ? undefined : fact(name, html`<code>${value}</code>`)

/** Everything that the event holds, what it is chained by too. */
const details = (event: JournalEvent): Html.Html =>
  html`<dl class="facts">
    ${Object.entries(event.details).map(([name, value]) => fact(worded(name), Html.named(plain(value))))}
    ${fact("Action", html`<code>${event.action}</code>`)}
    ${fact("Time", html`<code>${event.at.toISOString()}</code>`)}
    ${
    event.credential === null
      ? undefined
      : fact(
        "With",
        html`${Html.named(event.credential.label)} (${
          worded(event.credential.kind)
        } <code>${event.credential.id}</code>)`
      )
  }
    ${event.target === null ? undefined : fact(worded(event.target.type), html`<code>${event.target.id}</code>`)}
    ${known("Address", event.ip)}
    ${known("Request", event.request_id)}
    ${known("Completes", event.closes)}
    ${fact("Sequence", html`<code>${event.sequence}</code>`)}
    ${fact("Hash", html`<code>${event.hash}</code>`)}
    ${fact("Hash before", html`<code>${event.prev_hash}</code>`)}
  </dl>`

const plain = (value: string | number | boolean): string =>
  value === true ? "yes" : value === false ? "no" : String(value)

/** The most telling details in one line; all of them are below. */
const gist = (event: JournalEvent): Html.Html | undefined => {
  const facts = Object.entries(event.details).slice(0, gistDetails)
  return facts.length === 0 ?
    undefined :
    html`<p class="gist">${
      facts.map(([name, value], at) =>
        html`${at === 0 ? "" : " · "}${worded(name)}: ${Html.named(shownName(plain(value)) ?? "")}`
      )
    }</p>`
}

const account = (view: Visit.View, id: string, names: ReadonlyMap<string, string>): Html.Html => {
  const name = names.get(id)
  return html`<a href="${view.visit.base}/console/accounts/${id}">${
    name === undefined ? "Account" : Html.named(name)
  }</a>`
}

/** One event; with the names of accounts it also says which one it concerns. */
export const item = (view: Visit.View, names?: ReadonlyMap<string, string>) => (event: JournalEvent): Html.Html =>
  html`<li id="e${event.sequence}">
  <div class="head"><h3>${worded(event.action)}${
    names === undefined || event.account_id === null ? undefined : html`: ${account(view, event.account_id, names)}`
  }</h3>${event.outcome === "done" ? undefined : outcome(event)}</div>
  ${gist(event)}
  <p class="hint">${Times.ago(event.at, view.now)} ${by(view, event)} ${
    event.actor.type === "admin" ? ways[event.via] : ""
  }</p>
  <details><summary>Details of event ${event.sequence}</summary>${details(event)}</details>
</li>`
