/** The form of the archive password, handled in the browser: the service is sent a key that it cannot open. */
import { fill, make, status } from "../page/Elements.ts"
import { missingForKeys } from "../page/MissingFeatures.ts"
import { trusted } from "../page/TrustedAddress.ts"
import type { KeyFacts, ReadyKey } from "./KeyCalls.ts"
import { clearFaults, fieldOf, serviceLink, showFault } from "./KeyFaults.ts"
import { makeReady, sendKey } from "./KeySending.ts"
import { showCode } from "./ShownRecoveryCode.ts"

const secretIds = ["secret", "new", "repeated"]

const secretFields = (): ReadonlyArray<HTMLInputElement> => secretIds.flatMap((id) => fieldOf(id) ?? [])

const valueOf = (id: string): string => fieldOf(id)?.value ?? ""

/** The secrets as they are typed now; a key that is ready belongs to them. */
const typed = (): string => JSON.stringify(secretIds.map(valueOf))

const handle = (form: HTMLFormElement, send: HTMLButtonElement): void => {
  const { home = "", key = "", worker = "" } = form.dataset
  const address = trusted(worker)
  const facts: KeyFacts = JSON.parse(key)
  const above = make("div", {})
  form.before(above)
  let kept: { readonly of: string; readonly ready: ReadyKey } | undefined

  /** Makes the key, or takes the one that was not stored the last time; then sends it. */
  const submit = async (): Promise<void> => {
    const of = typed()
    if (valueOf("new") !== valueOf("repeated")) {
      return showFault(above, { field: "repeated", message: "This is not the same as the new password." })
    }
    if (kept?.of !== of) {
      fill(above, status("Making the key in this browser …"))
      const made = await makeReady(address, { ...facts, secret: valueOf("secret"), password: valueOf("new") })
      if ("fault" in made) return showFault(above, made.fault)
      kept = { of, ready: made.ready }
    }
    fill(above, status("Storing the key …"))
    const fault = await sendKey(form, kept.ready)
    if (fault !== null) return showFault(above, fault)
    const { recoveryCode } = kept.ready
    kept = undefined
    for (const field of secretFields()) field.value = ""
    const main = form.closest("main")
    if (main !== null) showCode(main, recoveryCode, home)
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault()
    if (send.disabled) return
    send.disabled = true
    clearFaults(form, above)
    void submit().finally(() => {
      send.disabled = false
    })
  })
  // A page that the browser keeps, to go back to, keeps no secret.
  addEventListener("pagehide", () => {
    kept = undefined
    for (const field of secretFields()) field.value = ""
  })
}

const form = document.querySelector<HTMLFormElement>("form[data-key]")
const send = form?.querySelector<HTMLButtonElement>("button[disabled]") ?? null
const place = document.getElementById("key-place")

if (form !== null && send !== null && place !== null) {
  const lacking = missingForKeys()
  if (lacking.length > 0) {
    const service = serviceLink("Let the service make it")
    fill(
      place,
      `This browser cannot make the key. It lacks ${lacking.join("; ")}. `,
      service,
      ", which sees the password once then."
    )
  } else {
    // Nothing that has no name is ever sent with a form.
    for (const field of secretFields()) field.removeAttribute("name")
    handle(form, send)
    send.disabled = false
    send.hidden = false
    fill(
      place,
      "The archive password stays in this browser, which makes the key: the service gets only what it cannot open."
    )
  }
}
