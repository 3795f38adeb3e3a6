/** Faults of the form, as the service's own pages show them. */
import { fill, make } from "../page/Elements.ts"
import type { KeyFault } from "./KeyCalls.ts"

/** The field of the form by its id. */
export const fieldOf = (id: string): HTMLInputElement | null => {
  const found = document.getElementById(id)
  return found instanceof HTMLInputElement ? found : null
}

const faultId = (field: HTMLElement): string => `${field.id}-fault`

const unmark = (field: HTMLElement): void => {
  document.getElementById(faultId(field))?.remove()
  field.removeAttribute("aria-invalid")
  const hint = `${field.id}-hint`
  if (document.getElementById(hint) === null) field.removeAttribute("aria-describedby")
  else field.setAttribute("aria-describedby", hint)
}

const mark = (field: HTMLElement, message: string): void => {
  field.before(make("p", { class: "fault", id: faultId(field) }, message))
  field.setAttribute("aria-invalid", "true")
  const described = field.getAttribute("aria-describedby")
  field.setAttribute("aria-describedby", described === null ? faultId(field) : `${described} ${faultId(field)}`)
}

/** Shows no fault any more. */
export const clearFaults = (form: HTMLFormElement, above: HTMLElement): void => {
  for (const field of form.querySelectorAll("input")) unmark(field)
  fill(above)
}

/** Leads to the form whose password the service is sent. */
export const serviceLink = (text: string): HTMLElement => make("a", { href: "?by=service" }, text)

/** Shows the fault above the form and at its field, which gets the focus. */
export const showFault = (above: HTMLElement, { byService = false, field: id, message }: KeyFault): void => {
  const field = fieldOf(id)
  const service = byService ? [" Load the page again, or ", serviceLink("let the service make the key"), "."] : []
  const words = field === null
    ? make("p", {}, message, service)
    : make("ul", {}, make("li", {}, make("a", { href: `#${id}` }, message)))
  const box = make(
    "div",
    { class: "problem", role: "alert", tabindex: -1 },
    make("h2", {}, "There is a problem"),
    words
  )
  fill(above, box)
  if (field === null) return box.focus()
  mark(field, message)
  field.focus()
}
