/** The script of an export's page: it shows how far the downloads are, as the service says. */
import * as Scripts from "../kit/Scripts.ts"

const script = `"use strict"
const list = document.querySelector("[data-downloads]")
const status = document.querySelector("[data-status]")
const count = document.querySelector("[data-count]")
const attempts = 5
let source = null
let failed = 0
const show = (element, text) => {
  element.textContent = text
  element.hidden = text === ""
}
const apply = ({ at, done, number, running, sent, sha256, text, total }) => {
  const row = list.querySelector('[data-part="' + Number(number) + '"]')
  if (row === null) return
  const bar = row.querySelector("progress")
  const ended = row.dataset.running === "yes" && !running
  show(row.querySelector("[data-text]"), text)
  bar.hidden = !running
  bar.max = Math.max(1, total)
  bar.value = done
  row.dataset.running = running ? "yes" : "no"
  if (sent !== null && at !== Number(row.dataset.at)) {
    if (row.dataset.at === "0") count.textContent = Number(count.textContent) + 1
    row.dataset.at = at
    show(row.querySelector("[data-sent]"), "Downloaded just now " + sent)
    show(row.querySelector("[data-digest]"), "SHA-256 " + sha256)
    status.textContent = "Part " + number + " is downloaded."
  } else if (ended) status.textContent = "Part " + number + ": " + text
}
const open = () => {
  if (source !== null) return
  source = new EventSource(list.dataset.downloads)
  source.addEventListener("parts", ({ data }) => {
    failed = 0
    for (const part of JSON.parse(data)) apply(part)
  })
  source.addEventListener("end", ({ data }) => {
    source.close()
    source = null
    if (data !== "") status.textContent = data
  })
  source.addEventListener("error", () => {
    if (source === null || source.readyState !== EventSource.CLOSED) return
    source = null
    failed += 1
    if (failed < attempts) setTimeout(open, 1000 * failed)
    else status.textContent = "The progress of downloads cannot be shown now: load this page again."
  })
}
const form = list.closest("form")
if (form !== null) form.addEventListener("submit", () => {
  // An earlier refusal is not of this download.
  for (const old of document.querySelectorAll("main > .problem, .fault")) old.hidden = true
  setTimeout(open, 300)
})
if (list.querySelector('[data-running="yes"]') !== null) open()
`

export const { addressAt, route } = Scripts.make("/console/downloads.js", script)
