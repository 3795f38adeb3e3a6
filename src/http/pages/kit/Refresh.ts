/**
 * A page that reloads itself while nobody uses it. A script does it: a `meta` element would reload a page on which
 * something is ticked, opened or focused, and cannot be stopped. The request says that nobody made it, so that it does
 * not keep the session from ending.
 */
import { Duration } from "effect"
import type * as Html from "./Html.ts"
import { html } from "./Html.ts"
import * as Scripts from "./Scripts.ts"

/** The member of the query that marks a request which no person made. */
export const unattended = "unattended"

export const isUnattended = (query: string): boolean => new URLSearchParams(query).has(unattended)

/** The query without the members that say how a page was come to. */
export const attended = (query: string): string => {
  const members = new URLSearchParams(query)
  for (const said of [unattended, "done"]) members.delete(said)
  return String(members)
}

const period = Duration.seconds(30)

const script = `"use strict"
const control = document.querySelector("[data-refresh]")
const box = control.querySelector("input")
const key = "console-refresh"
const marked = (on) => {
  const address = new URL(location.href)
  if (on) address.searchParams.set("${unattended}", "1")
  else for (const said of ["${unattended}", "done"]) address.searchParams.delete(said)
  if (address.href !== location.href) history.replaceState(null, "", address)
}
const entered = (field) =>
  field.type === "hidden" ? false
    : field.type === "checkbox" || field.type === "radio" ? field.checked !== field.defaultChecked
    : field.tagName === "SELECT" ? [...field.options].some((one) => one.selected !== one.defaultSelected)
    : field.value !== field.defaultValue
const inUse = () =>
  document.hidden || ![document.body, box, null].includes(document.activeElement) || String(getSelection()) !== "" ||
  document.querySelector("main details[open], main > .note") !== null ||
  [...document.querySelectorAll("main form :is(input, select)")].some(entered)
marked(false)
box.checked = sessionStorage.getItem(key) !== "off"
box.addEventListener("change", () => sessionStorage.setItem(key, box.checked ? "on" : "off"))
control.hidden = false
setInterval(() => {
  if (!box.checked || inUse()) return
  marked(true)
  location.reload()
}, ${Duration.toMillis(period)})
`

export const { addressAt, route } = Scripts.make("/console/refresh.js", script)

/** Says that the page reloads itself, and stops it; hidden where no script runs. */
export const control = (): Html.Html =>
  html`<p class="refresh hint" data-refresh hidden><label><input type="checkbox" checked> Refresh this page every ${
    Duration.toSeconds(period)
  } seconds while nothing on it is in use</label></p>`
