/** An admin's own second factors, and for the owner whether the organization requires one. */
import { Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import { ConsoleSessions } from "../../console/ConsoleSessions.ts"
import {
  type FactorState,
  type KeptFactor,
  type Passkey,
  type RecoveryCodes,
  type SecondFactorIncorrect,
  type SecondFactorNeeded,
  SecondFactors
} from "../../console/SecondFactors.ts"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import { isUuid } from "../../domain/Wire.ts"
import * as Forms from "./Forms.ts"
import * as Frame from "./Frame.ts"
import * as Html from "./Html.ts"
import { html } from "./Html.ts"
import * as NewFactors from "./NewFactors.ts"
import * as PasskeyScript from "./PasskeyScript.ts"
import type * as SentForm from "./SentForm.ts"
import * as StepUp from "./StepUp.ts"
import * as Visit from "./Visit.ts"

export const path = "/console/security/second-factor"
const appPath = `${path}/app`
const passkeyPath = `${path}/passkey`
const removePath = `${path}/remove`
const codesPath = `${path}/recovery-codes`
const requirePath = `${path}/requirement`

const dones: ReadonlyMap<string, string> = new Map([
  ["added", "The second factor is added. Your other sessions have ended."],
  ["removed", "The second factor is removed. Your other sessions have ended."],
  ["set", "The setting is saved."]
])

const passkeyRow = (base: string) => ({ backedUp, createdAt, host, id, lastUsedAt, name }: Passkey) =>
  html`<li>
  <h3>${Html.named(name)}</h3>
  <dl>
    <dt>Added</dt><dd>${Html.momentOf(createdAt)}</dd>
    <dt>Last used</dt><dd>${lastUsedAt === null ? "Never" : Html.momentOf(lastUsedAt)}</dd>
    <dt>Works at</dt><dd>${host}</dd>
    <dt>Copies</dt><dd>${backedUp ? "On other devices of yours too" : "On one device"}</dd>
  </dl>
  <p><a href="${base}${removePath}?factor=${id}">Remove ${Html.named(name)}</a></p>
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

const get = (visit: Visit.Visit) =>
  Visit.asAdmin(visit, path, (view) =>
    Effect.gen(function*() {
      const state = yield* (yield* SecondFactors).state(view.admin)
      const done = dones.get(new URLSearchParams(visit.query).get("done") ?? "")
      const { base } = visit
      return yield* Frame.page(view, {
        title: "Second factor",
        body: html`
<p class="back"><a href="${base}/console/security">Password and sessions</a></p>
<h1>Second factor</h1>
<p class="lead">What you give at sign-in besides your password, and where the console asks for your password again.</p>
${done === undefined ? undefined : html`<p class="good" role="status">${done}</p>`}
${
          state.required
            ? html`<p class="note">${
              Html.named(view.admin.organizationName)
            } requires a second factor of every admin.</p>`
            : undefined
        }
<section aria-labelledby="passkeys">
  <h2 id="passkeys">Passkeys</h2>
  <p class="hint">Kept by your device, your password manager or a security key. They cannot be phished, and sign you in without your password too.</p>
  ${state.passkeys.length === 0 ? undefined : html`<ul class="plain">${state.passkeys.map(passkeyRow(base))}</ul>`}
  <p class="after"><a class="button" href="${base}${passkeyPath}">Add a passkey</a></p>
</section>
<section aria-labelledby="app">
  <h2 id="app">Authenticator app</h2>
  ${
          state.totp === null
            ? html`<p>None.</p><p><a class="button" href="${base}${appPath}">Set up an app</a></p>`
            : html`<p>Set up on ${Html.momentOf(state.totp)}.</p>
  <div class="actions"><a class="button" href="${base}${appPath}">Set up another in its place</a>
  <a class="button" href="${base}${removePath}?factor=totp">Remove the app</a></div>`
        }
</section>
${
          hasOne(state)
            ? html`<section aria-labelledby="codes">
  <h2 id="codes">Recovery codes</h2>
  <p>${state.recoveryCodes} are left. Each stands in for your second factor once, should you lose it.</p>
  <p><a class="button" href="${base}${codesPath}">Make new ones</a></p>
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
  <p><a class="button" href="${base}${requirePath}">${
              state.required ? "No longer require it" : "Require it of every admin"
            }</a></p>
</section>`
            : undefined
        }`
      })
    }))

/** One change: a page that asks for the password and the second factor again, and the form's action. */
interface Change {
  readonly path: `/${string}`
  readonly title: string
  readonly fields: (
    view: Visit.View,
    faults: Html.Faults
  ) => Effect.Effect<Fields | null, ServiceUnavailable, SecondFactors>
  readonly run: (
    form: SentForm.Form,
    view: Visit.View
  ) => Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    SecondFactorIncorrect | SecondFactorNeeded | ServiceUnavailable,
    SecondFactors
  >
}

interface Fields {
  readonly markup: Html.Html
  /** The button that sends the form, unless a passkey does. */
  readonly button: string | null
  readonly script?: string
}

/** The text that the token of a change's form is bound to. */
const tokenOf = (path: string) => `second factor ${path}`

/** The path with the query that selects the page's subject. */
const withQuery = (path: string, { query }: Visit.Visit): string => query === "" ? path : `${path}?${query}`

const changed = (visit: Visit.Visit, what: string) => Html.redirect(`${visit.base}${path}?done=${what}`)

const change = ({ fields, path: at, run, title }: Change) => {
  const show = Effect.fnUntraced(
    function*(view: Visit.View, faults: Html.Faults, status?: number, headers?: Readonly<Record<string, string>>) {
      const own = yield* fields(view, faults)
      if (own === null) return changed(view.visit, "")
      const stepUp: StepUp.Part = yield* StepUp.part(view, faults)
      const { base } = view.visit
      return yield* Frame.page(view, {
        title,
        faults,
        status,
        headers,
        script: own.script ?? stepUp.script,
        body: html`
<p class="back"><a href="${base}${path}">Second factor</a></p>
<h1>${title}</h1>
${Html.summary(faults)}
<form method="post" action="${base}${withQuery(at, view.visit)}" class="card">
  ${Forms.hidden(view, tokenOf(at))}
  <input type="text" name="username" value="${view.admin.email}" autocomplete="username" hidden>
  <div class="field">
    <label for="password">Console password</label>
    ${Html.fault(faults, "password")}
    <input type="password" id="password" name="password" required autocomplete="current-password"${
          Html.described(faults, "password", false)
        }>
  </div>
  ${stepUp.field}
  ${own.markup}
  ${own.button === null ? undefined : html`<button class="main">${own.button}</button>`}
</form>`
      })
    }
  )
  const post = (visit: Visit.Visit) =>
    Forms.submitted(visit, at, () => tokenOf(at), (form, view) =>
      Effect.gen(function*() {
        const sessions = yield* ConsoleSessions
        yield* sessions.verifyPassword(view.admin, form.secret("password"), visit.ip)
        yield* StepUp.check(view, form)
        return yield* run(form, view)
      }).pipe(
        Visit.showRefusal,
        Effect.catchTag("password_incorrect", ({ message }) => show(view, new Map([["password", message]]), 403)),
        Effect.catchTag(
          "too_many_attempts",
          ({ message, retry_after }) =>
            show(view, new Map([["password", message]]), 429, { "retry-after": String(retry_after) })
        ),
        Effect.catchTag(
          "StepUpRefused",
          ({ headers, message, status }) => show(view, new Map([[StepUp.fieldId, message]]), status, headers)
        ),
        Effect.catchTag(
          "SecondFactorIncorrect",
          ({ message }) =>
            show(view, new Map([[form.text("kind") === "totp" ? "new-code" : "passkey-name", message]]), 403)
        ),
        Effect.catchTag("SecondFactorNeeded", ({ message }) => show(view, new Map([["password", message]]), 403))
      ))
  return [
    Visit.route("GET", at, (visit) => Visit.asAdmin(visit, withQuery(at, visit), (view) => show(view, Html.noFaults))),
    Visit.route("POST", at, post)
  ] as const
}

const codesPage = (view: Visit.View, codes: RecoveryCodes) =>
  Frame.page(view, {
    title: "Recovery codes",
    body: html`
<h1>Recovery codes</h1>
${NewFactors.recoveryCodes(codes, `${view.visit.base}${path}`)}`
  })

/** Adds what the form has, and shows the codes that come with the first factor. */
const add = (form: SentForm.Form, view: Visit.View) =>
  Effect.gen(function*() {
    const codes = yield* (yield* SecondFactors).add(view.admin, NewFactors.read(form), view.visit)
    return codes === null ? changed(view.visit, "added") : yield* codesPage(view, codes)
  })

const holder = ({ admin }: Visit.View) => ({ ...admin, subject: admin.sessionId })

const addApp = change({
  path: appPath,
  title: "Set up an authenticator app",
  fields: (view, faults) =>
    Effect.gen(function*() {
      const app = yield* (yield* SecondFactors).newApp(holder(view))
      return { markup: yield* NewFactors.appFields(app, faults), button: "Set up the app" }
    }),
  run: add
})

const addPasskey = change({
  path: passkeyPath,
  title: "Add a passkey",
  fields: (view, faults) =>
    Effect.gen(function*() {
      const question = yield* (yield* SecondFactors).newPasskey(holder(view), view.visit.site)
      return question === null
        ? { markup: html`<p>Browsers have no passkeys at an address without a name, as this one.</p>`, button: null }
        : {
          markup: NewFactors.passkeyFields(question, faults, true),
          button: null,
          script: PasskeyScript.addressAt(view.visit.site)
        }
    }),
  run: add
})

const keptOf = (text: string): KeptFactor | null =>
  text === "totp" ? { kind: "totp" } : isUuid(text) ? { kind: "passkey", id: text } : null

const remove = change({
  path: removePath,
  title: "Remove a second factor",
  fields: (view) =>
    Effect.gen(function*() {
      const text = new URLSearchParams(view.visit.query).get("factor") ?? ""
      const state = yield* (yield* SecondFactors).state(view.admin)
      const passkey = state.passkeys.find(({ id }) => id === text)
      if (passkey === undefined && (text !== "totp" || state.totp === null)) return null
      const last = state.passkeys.length + (state.totp === null ? 0 : 1) === 1
      return {
        markup: html`
  <input type="hidden" name="factor" value="${text}">
  <p>${
          passkey === undefined
            ? "Your authenticator app"
            : html`Your passkey ${Html.named(passkey.name)}`
        } no longer signs you in. Your other sessions end.${
          last
            ? " It is your last second factor: your recovery codes go with it, and your password alone signs you in."
            : ""
        }</p>`,
        button: "Remove it"
      }
    }),
  run: (form, view) =>
    Effect.gen(function*() {
      const kept = keptOf(form.text("factor"))
      const removed = kept !== null && (yield* (yield* SecondFactors).remove(view.admin, kept, view.visit))
      return changed(view.visit, removed ? "removed" : "")
    })
})

const renewCodes = change({
  path: codesPath,
  title: "Make new recovery codes",
  fields: () =>
    Effect.succeed({ markup: html`<p>The recovery codes that you have stop.</p>`, button: "Make new recovery codes" }),
  run: (_, view) =>
    Effect.gen(function*() {
      return yield* codesPage(view, yield* (yield* SecondFactors).renewCodes(view.admin, view.visit))
    })
})

const requirement = change({
  path: requirePath,
  title: "Require a second factor",
  fields: (view) =>
    Effect.gen(function*() {
      if (view.admin.role !== "owner") return null
      const { required } = yield* (yield* SecondFactors).state(view.admin)
      return required
        ? {
          markup: html`<input type="hidden" name="required" value="no">
  <p>Admins may sign in without a second factor from now on, and remove those they have.</p>`,
          button: "No longer require it"
        }
        : {
          markup: html`<input type="hidden" name="required" value="yes">
  <p>Console sessions of admins who have no second factor end at once, and their next sign-in begins with setting one up. Keys and connected applications go on working.</p>`,
          button: "Require it of every admin"
        }
    }),
  run: (form, view) =>
    Effect.as(
      Effect.flatMap(SecondFactors, (factors) =>
        factors.require(view.admin, form.text("required") === "yes", view.visit)),
      changed(view.visit, "set")
    )
})

export const routes = [
  Visit.route("GET", path, get),
  ...addApp,
  ...addPasskey,
  ...remove,
  ...renewCodes,
  ...requirement
] as const
