/** The archive password's forms as they are asked for and sent: handled in the browser, or in the service. */
import { Effect, Result } from "effect"
import { changeArchivePassword, setArchiveKey } from "../../../archive/KeyChanges.ts"
import { journalWrongPassword } from "../../../archive/WrongPasswords.ts"
import type { WrapKind } from "../../../domain/archive/Epoch.ts"
import { OwnerRequired } from "../../../domain/Failure.ts"
import * as Actor from "../../../domain/journal/Actor.ts"
import { Caller } from "../../../domain/people/Access.ts"
import { ArchiveAttempts } from "../../../ports/archive/ArchiveAttempts.ts"
import { type ArchiveKey, ArchiveKeys } from "../../../ports/archive/ArchiveKeys.ts"
import { Db } from "../../../ports/Db.ts"
import { ConsoleSessions } from "../../../ports/signin/ConsoleSessions.ts"
import * as Forms from "../kit/Forms.ts"
import * as Html from "../kit/Html.ts"
import type { AdminPage, PageRequest } from "../kit/PageRequest.ts"
import type * as SentForm from "../kit/SentForm.ts"
import * as Serving from "../kit/Serving.ts"
import * as StepUp from "../signin/StepUp.ts"
import * as Browser from "./ArchiveKeyBrowser.ts"
import { isLossAccepted, type KeyForm, lossRefused, path, pathOf, show, showCode, tokenOf } from "./ArchiveKeyForm.ts"

/** The key as it is, for the owner; others are refused. */
const owned = Effect.gen(function*() {
  const caller = yield* Caller
  if (caller.role !== "owner") return yield* new OwnerRequired({})
  const keys = yield* ArchiveKeys
  return yield* (yield* Db).read(caller.organizationId, keys.current(caller.organizationId))
})

/** True if there is something for the form to do. */
const applies = ({ name }: KeyForm, key: ArchiveKey | null): boolean => (key === null) === (name === "set")

const changerOf = ({ admin }: AdminPage) =>
  Effect.map(Caller, (caller) => ({
    organizationId: caller.organizationId,
    actor: Actor.caller(caller),
    adminId: caller.adminId,
    email: admin.email,
    origin: caller
  }))

/** Opens the key by the archive password, which is counted as where the archive is read, or by its recovery code. */
const change = Effect.fnUntraced(function*(view: AdminPage, kind: WrapKind, key: ArchiveKey, form: SentForm.Form) {
  const attempts = yield* ArchiveAttempts
  const caller = yield* Caller
  if (kind === "password") yield* attempts.count(caller)
  const by = { kind, secret: form.secret("secret") }
  const result = yield* Effect.result(
    changeArchivePassword(yield* changerOf(view), key, by, form.secret("new"))
  )
  if (Result.isFailure(result) && result.failure._tag === "WrongArchivePassword") yield* journalWrongPassword(caller)
  else if (kind === "password") {
    yield* Result.isSuccess(result) ? attempts.opened(caller) : attempts.takeBack(caller)
  }
  // A stored wrap that was changed opens for nobody.
  return yield* Effect.catchTag(Effect.fromResult(result), "ArchiveUnreadable", Effect.die)
})

/** The fields of a form that are wrong by themselves. */
const faultsOf = (keyForm: KeyForm, form: SentForm.Form): Html.Faults =>
  new Map([
    ...(form.text("new") === form.text("repeated")
      ? []
      : [["repeated", "This is not the same as the new password."] as const]),
    ...(isLossAccepted(keyForm, form) ? [] : [["lost", lossRefused] as const])
  ])

const perform = Effect.fnUntraced(
  function*(view: AdminPage, { secret }: KeyForm, key: ArchiveKey | null, form: SentForm.Form) {
    return secret === undefined || key === null
      ? yield* setArchiveKey(yield* changerOf(view), form.secret("new"), key)
      : yield* change(view, secret.kind, key, form)
  }
)

/** The console password, and the second factor. */
const stepUp = Effect.fnUntraced(function*(view: AdminPage, form: SentForm.Form) {
  const sessions = yield* ConsoleSessions
  yield* sessions.verifyPassword(view.admin, form.secret("password"), view.visit.ip)
  yield* StepUp.check(view, form)
}, (checked) => Serving.showRefusal(checked))

/** The page that answers a form whose password the service is sent. */
const answerPage = Effect.fnUntraced(
  function*(view: AdminPage, keyForm: KeyForm, key: ArchiveKey | null, form: SentForm.Form) {
    const again = (status: number, id: string, text: string, headers = {}) =>
      show(keyForm, view, null, { faults: new Map([[id, text]]), status, headers })
    if (!applies(keyForm, key)) return Html.redirect(`${view.visit.base}${path}`)
    const faults = faultsOf(keyForm, form)
    if (faults.size > 0) return yield* show(keyForm, view, null, { faults, status: 400 })
    const done = perform(view, keyForm, key, form).pipe(
      Effect.flatMap((code) => showCode(view, code)),
      Effect.catchTag("PasswordUnfit", ({ message }) => again(400, "new", message)),
      Effect.catchTag("WrongArchivePassword", () => again(403, "secret", keyForm.secret?.wrong ?? "")),
      Effect.catchTag("ArchiveKeyChanged", ({ message }) => again(409, "new", message)),
      Effect.catchTag(
        "too_many_attempts",
        ({ message, retry_after }) => again(429, "secret", message, { "retry-after": String(retry_after) })
      )
    )
    return yield* Effect.andThen(stepUp(view, form), done).pipe(StepUp.again(again))
  }
)

const post = (keyForm: KeyForm) => (visit: PageRequest) =>
  Forms.submitted(visit, path, () => tokenOf(keyForm), (form, view) =>
    Effect.gen(function*() {
      const key = yield* owned
      return yield* Browser.isFrom(form)
        ? Browser.answer(view, keyForm, key, form, yield* changerOf(view), stepUp(view, form))
        : answerPage(view, keyForm, key, form)
    }))

const get = (form: KeyForm) => (visit: PageRequest) =>
  Serving.asAdmin(visit, pathOf(form), (view) =>
    Effect.gen(function*() {
      const key = yield* owned
      if (!applies(form, key)) return Html.redirect(`${visit.base}${path}`)
      const byService = new URLSearchParams(visit.query).get("by") === "service"
      return yield* show(form, view, byService ? null : yield* Browser.partOf(view, form, key))
    }))

export const routesOf = (form: KeyForm) =>
  [Serving.route("GET", pathOf(form), get(form)), Serving.route("POST", pathOf(form), post(form))] as const
