/** The script of passkeys: it hands a question to the browser, and what the browser answers to the form. */
import * as Scripts from "../kit/Scripts.ts"

const script = `"use strict"
const credentials = window.PublicKeyCredential
const able = typeof credentials?.parseRequestOptionsFromJSON === "function"
for (const area of document.querySelectorAll("[data-passkey]")) {
  const button = area.querySelector("button")
  const status = area.querySelector("[role=status]")
  const answer = area.querySelector("[data-answer]")
  const say = (text) => { status.textContent = text }
  if (!able) {
    say("This browser is too old for passkeys.")
    continue
  }
  button.hidden = false
  button.addEventListener("click", async () => {
    const making = area.dataset.passkey === "create"
    if (making && !button.form.reportValidity()) return
    button.disabled = true
    say("Follow what your device asks.")
    try {
      const options = JSON.parse(area.dataset.options)
      const made = making
        ? await navigator.credentials.create({ publicKey: credentials.parseCreationOptionsFromJSON(options) })
        : await navigator.credentials.get({ publicKey: credentials.parseRequestOptionsFromJSON(options) })
      answer.value = JSON.stringify(made)
      if (area.dataset.send === "now") {
        button.form.submit()
        return
      }
      const instead = document.getElementById(area.dataset.instead)
      if (instead !== null) instead.required = false
      say("The passkey is confirmed: go on with the form.")
    } catch (error) {
      say(error.name === "InvalidStateError"
        ? "This device holds one of your passkeys already."
        : "The passkey was not used. Try again, or choose another way.")
      button.disabled = false
    }
  })
}
`

export const { addressAt, route } = Scripts.make("/console/passkeys.js", script)
