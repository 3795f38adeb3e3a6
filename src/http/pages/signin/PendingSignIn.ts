/** The steps between the first factor and the session: pages of a sign-in that waits. */
import { Effect, Option } from "effect"
import { ConsoleSessions } from "../../../ports/signin/ConsoleSessions.ts"
import { type PendingSignIn, SignIns } from "../../../ports/signin/SignIns.ts"
import { html, type PageRequest, SentForm } from "../kit/index.ts"
import * as SignInSteps from "./SignInSteps.ts"

/** Runs the page after the first factor; otherwise it redirects to the sign-in. */
const waiting = Effect.fnUntraced(function*<A, E, R>(
  visit: PageRequest,
  returnTo: string,
  page: (pending: PendingSignIn, returnTo: string) => Effect.Effect<A, E, R>
) {
  const pending = yield* (yield* SignIns).current(visit.cookies, visit.site)
  return Option.isNone(pending) ? SignInSteps.toSignIn(visit, returnTo) : yield* page(pending.value, returnTo)
})

/** The page of a step, with the path that the sign-in leads to. */
export const shown = <A, E, R>(
  visit: PageRequest,
  page: (pending: PendingSignIn, returnTo: string) => Effect.Effect<A, E, R>
) => waiting(visit, SignInSteps.returnPath(new URLSearchParams(visit.query).get("return_to")), page)

/** The form of a step, whose token is bound to the step within this sign-in. */
export const submitted = Effect.fnUntraced(function*<A, E, R>(
  visit: PageRequest,
  step: string,
  page: (form: SentForm.Form, pending: PendingSignIn, returnTo: string) => Effect.Effect<A, E, R>
) {
  const sent = yield* SentForm.read(visit)
  if (Option.isNone(sent)) return yield* SentForm.foreign(visit)
  const form = sent.value
  const sessions = yield* ConsoleSessions
  return yield* waiting(
    visit,
    SignInSteps.returnPath(form.text("return_to")),
    (pending, returnTo) =>
      Effect.gen(function*() {
        if (!sessions.verifyCsrf(pending.id, step, form.text("csrf"))) return yield* SentForm.foreign(visit)
        return yield* page(form, pending, returnTo)
      })
  )
})

/** The hidden members of the form of a step. */
export const hidden = Effect.fnUntraced(function*(pending: PendingSignIn, step: string, returnTo: string) {
  const csrf = (yield* ConsoleSessions).csrf(pending.id, step)
  return html`<input type="hidden" name="csrf" value="${csrf}">
  <input type="hidden" name="return_to" value="${returnTo}">`
})
