/** The forms by which second factors are set up, at sign-in and in the console. */
import { Effect, Redacted } from "effect"
import { raw } from "hono/html"
import { maxPasskeyNameLength } from "../../../domain/Limits.ts"
import type { NewApp, NewFactor, PasskeyQuestion, RecoveryCodes } from "../../../ports/signin/SecondFactors.ts"
import { Html, html, type SentForm } from "../kit/index.ts"
import * as Passkeys from "./PasskeyFields.ts"

/** Read when the first code is drawn. */
const library = Effect.promise(() => import("qr"))

/** The picture that an authenticator app scans. */
const qrCode = (app: NewApp) =>
  Effect.map(library, ({ encodeQR }) => raw(encodeQR(Redacted.value(app.address), "svg", { ecc: "medium", border: 2 })))

/** The fields of a new authenticator app. */
export const appFields = (app: NewApp, faults: Html.Faults) =>
  Effect.map(qrCode(app), (picture) =>
    html`
  <input type="hidden" name="kind" value="totp">
  <input type="hidden" name="ticket" value="${app.ticket}">
  <ol class="steps">
    <li>
      <p>Scan this code with an authenticator app.</p>
      <div class="qr" role="img" aria-label="QR code of the key below">${picture}</div>
      <p class="hint" id="key-hint">Or type this key into the app: time based, six digits.</p>
      <code class="secret" aria-describedby="key-hint" translate="no">${
      (Redacted.value(app.secret).match(/.{1,4}/g) ?? []).join(" ")
    }</code>
    </li>
    <li>
      <div class="field">
        <label for="new-code">Code that the app shows</label>
        ${Html.fault(faults, "new-code")}
        <input type="text" id="new-code" name="new_code" required inputmode="numeric" autocomplete="one-time-code" maxlength="16"${
      Html.described(faults, "new-code", false)
    }>
      </div>
    </li>
  </ol>`)

/** The fields of a new passkey. */
export const passkeyFields = (question: PasskeyQuestion, faults: Html.Faults, send: boolean): Html.Html =>
  html`
  <input type="hidden" name="kind" value="passkey">
  <div class="field">
    <label for="passkey-name">Name</label>
    <p class="hint" id="passkey-name-hint">What you know it by, such as “Work laptop”. At most ${maxPasskeyNameLength} characters.</p>
    ${Html.fault(faults, "passkey-name")}
    <input type="text" id="passkey-name" name="passkey_name" required maxlength="${maxPasskeyNameLength}" autocomplete="off"${
    Html.described(faults, "passkey-name", true)
  }>
  </div>
  ${Passkeys.field(question, { verb: "create", button: "Make a passkey", send })}`

/** The id of the field that a fault of the factor belongs to. */
export const fieldOf = ({ kind }: NewFactor): string => kind === "totp" ? "new-code" : "passkey-name"

/** The factor of a form. */
export const read = (form: SentForm.Form): NewFactor => {
  const passkey = Passkeys.answerOf(form, "create")
  return form.text("kind") === "passkey"
    ? { kind: "passkey", name: form.text("passkey_name"), ...(passkey ?? { ticket: "", response: "" }) }
    : { kind: "totp", ticket: form.text("ticket"), code: form.secret("new_code") }
}

/** The codes, on the only page that ever shows them. */
export const recoveryCodes = (codes: RecoveryCodes, next: string): Html.Html =>
  html`
<p class="good" role="status">Keep these recovery codes now where you keep passwords. They are shown this once.</p>
<section aria-labelledby="codes">
  <h2 id="codes">Recovery codes</h2>
  <p class="hint">Each stands in for your second factor once, should you lose it.</p>
  <ol class="codes" translate="no">${codes.map((code) => html`<li><code>${Redacted.value(code)}</code></li>`)}</ol>
</section>
<p><a class="button main" href="${next}">I have kept them</a></p>`
