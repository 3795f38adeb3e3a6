/** The changes of an admin's own second factors, and for the owner of what the organization requires. */
import { Effect } from "effect"
import { isUuid } from "../../../domain/JsonShapes.ts"
import { type KeptFactor, type RecoveryCodes, SecondFactors } from "../../../ports/signin/SecondFactors.ts"
import { type AdminPage, Frame, Html, html, type SentForm } from "../kit/index.ts"
import { change, changed, path } from "./FactorForm.ts"
import * as NewFactors from "./NewFactors.ts"
import * as PasskeyScript from "./PasskeyScript.ts"

export const appPath = `${path}/app`
export const passkeyPath = `${path}/passkey`
export const removePath = `${path}/remove`
export const codesPath = `${path}/recovery-codes`
export const requirePath = `${path}/requirement`

const codesPage = (view: AdminPage, codes: RecoveryCodes) =>
  Frame.page(view, {
    title: "Recovery codes",
    body: html`
<h1>Recovery codes</h1>
${NewFactors.recoveryCodes(codes, `${view.visit.base}${path}`)}`
  })

/** Adds what the form has, and shows the codes that come with the first factor. */
const add = (form: SentForm.Form, view: AdminPage) =>
  Effect.gen(function*() {
    const codes = yield* (yield* SecondFactors).add(view.admin, NewFactors.read(form), view.visit)
    return codes === null ? changed(view.visit, "added") : yield* codesPage(view, codes)
  })

const holder = ({ admin }: AdminPage) => ({ ...admin, subject: admin.sessionId })

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

/** The pages of the changes, and what answers their forms. */
export const routes = [...addApp, ...addPasskey, ...remove, ...renewCodes, ...requirement] as const
