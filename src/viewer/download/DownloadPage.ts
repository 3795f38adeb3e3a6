/** The page of an export: it shows how far downloads are, and writes large parts to files, where the browser can. */
import { picked } from "../page/SavedFile.ts"
import { makeEvents, type PartState } from "./DownloadEvents.ts"
import { writePart } from "./WrittenPart.ts"

const show = (element: HTMLElement | null, text: string): void => {
  if (element === null) return
  element.textContent = text
  element.hidden = text === ""
}

const start = (list: HTMLElement, status: HTMLElement, count: HTMLElement): void => {
  const reasons = new Map<number, string | null>()
  /** Parts that the page writes, of which it says itself what became of them. */
  const own = new Set<number>()
  let writing = 0
  const say = (text: string): void => {
    status.textContent = text
  }
  const rowOf = (number: number) => list.querySelector<HTMLElement>(`[data-part="${number}"]`)

  const apply = ({ at, done, number, reason, running, sent, sha256, text, total }: PartState): void => {
    reasons.set(number, reason)
    const row = rowOf(number)
    const bar = row?.querySelector("progress")
    if (row === null || bar === null || bar === undefined) return
    const hasEnded = row.dataset["running"] === "yes" && !running
    show(row.querySelector("[data-text]"), text)
    bar.hidden = !running
    bar.max = Math.max(1, total)
    bar.value = done
    row.dataset["running"] = running ? "yes" : "no"
    if (sent !== null && String(at) !== row.dataset["at"]) {
      if (row.dataset["at"] === "0") count.textContent = String(Number(count.textContent) + 1)
      row.dataset["at"] = String(at)
      show(row.querySelector("[data-sent]"), `Downloaded just now ${sent}`)
      show(row.querySelector("[data-digest]"), `SHA-256 ${sha256}`)
      if (!own.has(number)) say(`Part ${number} is downloaded.`)
    } else if (hasEnded && !own.has(number)) say(`Part ${number}: ${text}`)
  }

  const open = makeEvents(list.dataset["downloads"] ?? "", {
    say,
    parts: (states) => {
      for (const state of states) apply(state)
    }
  })

  const save = async (form: HTMLFormElement, button: HTMLButtonElement, name: string): Promise<void> => {
    const number = Number(button.value)
    const writable = await picked(name)
    if (writable === undefined || writable === false) return
    button.disabled = true
    own.add(number)
    writing += 1
    const fields = new URLSearchParams()
    for (const [field, value] of new FormData(form)) if (typeof value === "string") fields.set(field, value)
    fields.set("number", String(number))
    const request = { address: form.action, fields, reason: () => reasons.get(number) ?? null, say }
    try {
      const refusal = await writePart(writable, request)
      if (refusal === null) await writable.close()
      else await writable.abort()
      say(refusal ?? `Part ${number} is stored as ${name}.`)
    } catch {
      await writable.abort().catch(() => undefined)
      say("The file cannot be written: is there room for it?")
    } finally {
      button.disabled = false
      writing -= 1
    }
  }

  const form = list.closest("form")
  form?.addEventListener("submit", (event) => {
    // An earlier refusal is not of this download.
    for (const old of document.querySelectorAll<HTMLElement>("main > .problem, .fault")) old.hidden = true
    say("")
    setTimeout(open, 300)
    const { submitter } = event
    const file = submitter instanceof HTMLButtonElement ? rowOf(Number(submitter.value))?.dataset["file"] : undefined
    if (file === undefined || !(submitter instanceof HTMLButtonElement)) return
    if (globalThis.showSaveFilePicker === undefined) return
    event.preventDefault()
    void save(form, submitter, file)
  })
  addEventListener("beforeunload", (event) => {
    if (writing > 0) event.preventDefault()
  })
  if (list.querySelector(`[data-running="yes"]`) !== null) open()
}

const list = document.querySelector<HTMLElement>("[data-downloads]")
const status = document.querySelector<HTMLElement>("[data-status]")
const count = document.querySelector<HTMLElement>("[data-count]")
if (list !== null && status !== null && count !== null) start(list, status, count)
