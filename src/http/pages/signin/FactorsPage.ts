/** An admin's own second factors, and for the owner whether the organization requires one. */
import { Effect } from "effect"
import { type FactorState, type Passkey, SecondFactors } from "../../../ports/signin/SecondFactors.ts"
import { type AdminPage, Form, Frame, Html, html } from "../kit/index.ts"
import * as Changes from "./FactorChanges.ts"
import { path } from "./FactorForm.ts"

const passkeyRow = (base: string) => ({ backedUp, createdAt, host, id, lastUsedAt, name }: Passkey) =>
  html`<li>
  <h3>${Html.named(name)}</h3>
  <dl>
    <dt>Added</dt><dd>${Html.momentOf(createdAt)}</dd>
    <dt>Last used</dt><dd>${lastUsedAt === null ? "Never" : Html.momentOf(lastUsedAt)}</dd>
    <dt>Works at</dt><dd>${host}</dd>
    <dt>Copies</dt><dd>${backedUp ? "On other devices of yours too" : "On one device"}</dd>
  </dl>
  <p><a href="${base}${Changes.removePath}?factor=${id}">Remove ${Html.named(name)}</a></p>
</li>`

const hasOne = ({ passkeys, totp }: FactorState): boolean => totp !== null || passkeys.length > 0

/** The factors in one line, for the page of the admin's sign-in. */
export const summary = (state: FactorState): string =>
  hasOne(state)
    ? [
      ...(state.totp === null ? [] : ["an authenticator app"]),
      ...(state.passkeys.length === 0 ? [] : [`passkeys: ${state.passkeys.length}`]),
      `recovery codes left: ${state.recoveryCodes}`
    ].join(", ")
    : "none: your password alone signs you in"

const show = Effect.fnUntraced(function*(view: AdminPage, _: string, outcome: Form.Outcome) {
  const state = yield* (yield* SecondFactors).state(view.admin)
  const { base } = view.visit
  return yield* Frame.page(view, {
    title: "Second factor",
    body: html`
<p class="back"><a href="${base}/console/security">Password and sessions</a></p>
<h1>Second factor</h1>
<p class="lead">What you give at sign-in besides your password, and where the console asks for your password again.</p>
${Form.notice(outcome)}
${
      state.required
        ? html`<p class="note">${Html.named(view.admin.organizationName)} requires a second factor of every admin.</p>`
        : undefined
    }
<section aria-labelledby="passkeys">
  <h2 id="passkeys">Passkeys</h2>
  <p class="hint">Kept by your device, your password manager or a security key. They cannot be phished, and sign you in without your password too.</p>
  ${state.passkeys.length === 0 ? undefined : html`<ul class="plain">${state.passkeys.map(passkeyRow(base))}</ul>`}
  <p class="after"><a class="button" href="${base}${Changes.passkeyPath}">Add a passkey</a></p>
</section>
<section aria-labelledby="app">
  <h2 id="app">Authenticator app</h2>
  ${
      state.totp === null
        ? html`<p>None.</p><p><a class="button" href="${base}${Changes.appPath}">Set up an app</a></p>`
        : html`<p>Set up on ${Html.momentOf(state.totp)}.</p>
  <div class="actions"><a class="button" href="${base}${Changes.appPath}">Set up another in its place</a>
  <a class="button" href="${base}${Changes.removePath}?factor=totp">Remove the app</a></div>`
    }
</section>
${
      hasOne(state)
        ? html`<section aria-labelledby="codes">
  <h2 id="codes">Recovery codes</h2>
  <p>${state.recoveryCodes} are left. Each stands in for your second factor once, should you lose it.</p>
  <p><a class="button" href="${base}${Changes.codesPath}">Make new ones</a></p>
</section>`
        : undefined
    }
${
      view.admin.role === "owner"
        ? html`<section aria-labelledby="requirement">
  <h2 id="requirement">Your organization</h2>
  <p>${
          state.required
            ? "Every admin needs a second factor to sign in."
            : "Each admin decides whether to have a second factor."
        }</p>
  <p><a class="button" href="${base}${Changes.requirePath}">${
          state.required ? "No longer require it" : "Require it of every admin"
        }</a></p>
</section>`
        : undefined
    }`
  })
})

const page = Form.page({
  path,
  show,
  done: {
    added: "The second factor is added. Your other sessions have ended.",
    removed: "The second factor is removed. Your other sessions have ended.",
    set: "The setting is saved."
  }
})

export const routes = [...page.routes([]), ...Changes.routes] as const
