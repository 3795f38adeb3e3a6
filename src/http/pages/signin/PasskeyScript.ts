/** The pages' one script: it hands a question to the browser's passkeys, and what they answer to the form. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import * as crypto from "node:crypto"
import type { Site } from "../../../transport/Site.ts"

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

/** Names the script's text, so that browsers keep it until it changes. */
const version = crypto.createHash("sha256").update(script).digest("hex").slice(0, 12)

const path = "/console/passkeys.js"

/** Where the site serves the script. */
export const addressAt = ({ baseUrl }: Site): string => `${baseUrl.replace(/\/$/, "")}${path}?v=${version}`

const response = HttpServerResponse.setHeader(
  HttpServerResponse.text(script, { contentType: "text/javascript; charset=utf-8" }),
  "cache-control",
  "public, max-age=31536000, immutable"
)

export const route = { method: "GET" as const, path, serve: () => Effect.succeed(response) } as const
