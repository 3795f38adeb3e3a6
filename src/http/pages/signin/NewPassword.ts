/** Choosing a password by a link: what the pages of an invitation and of a forgotten password share. */
import { Effect, Option, Redacted } from "effect"
import type { HttpServerResponse } from "effect/http"
import { type ServiceUnavailable, TooManyAttempts } from "../../../domain/Failure.ts"
import { minPasswordLength } from "../../../domain/Limits.ts"
import type { PasswordUnfit } from "../../../ports/signin/ConsolePasswords.ts"
import { Html, html, type PageRequest, Problem, SentForm, Serving } from "../kit/index.ts"

/** The journaled facts of an attempt. */
export const attemptOf = ({ ip, requestId }: PageRequest) => ({ via: "console", ip, requestId } as const)

/** The page for a link that is unknown, used or expired, without saying which. */
export const ended = ({ base, requestId }: PageRequest, words: { readonly text: string; readonly advice: string }) =>
  Problem.problem(base, requestId, { status: 404, title: "This link does not work", ...words })

/** Runs a page of a link; an address that has tried too often gets one that says so. */
export const limited =
  (visit: PageRequest, of = "wrong links") => <A, E, R>(page: Effect.Effect<A, E | TooManyAttempts, R>) =>
    Effect.catchIf(
      Serving.showRefusal(page),
      (failure): failure is Extract<E | TooManyAttempts, TooManyAttempts> => failure instanceof TooManyAttempts,
      ({ message, retry_after }: TooManyAttempts) =>
        Problem.problem(visit.base, visit.requestId, {
          status: 429,
          title: "Too many attempts",
          text: message.replace("wrong passwords", of),
          headers: { "retry-after": String(retry_after) }
        })
    )

const field = (faults: Html.Faults, id: string, label: string, hint?: string): Html.Html =>
  html`
  <div class="field">
    <label for="${id}">${label}</label>
    ${hint === undefined ? undefined : html`<p class="hint" id="${id}-hint">${hint}</p>`}
    ${Html.fault(faults, id)}
    <input type="password" id="${id}" name="${id}" required autocomplete="new-password"${
    Html.described(faults, id, hint !== undefined)
  }>
  </div>`

/** The members of the form: the link's token, the address for password managers, and the password twice. */
export const fields = (
  token: Redacted.Redacted,
  email: string,
  label: string,
  faults: Html.Faults
): Html.Html =>
  html`<input type="hidden" name="token" value="${Redacted.value(token)}">
  <div class="field">
    <label for="email">Email address</label>
    <input type="email" id="email" name="email" value="${email}" autocomplete="username" readonly>
  </div>
  ${
    field(
      faults,
      "new",
      label,
      `At least ${minPasswordLength} characters; a few words that do not belong together are good.`
    )
  }
  ${field(faults, "repeated", `${label} again`)}`

type LinkFailure = TooManyAttempts | ServiceUnavailable

type Page<R> = Effect.Effect<HttpServerResponse.HttpServerResponse, LinkFailure, R>

/** The steps of a link's form; a link that does not work any more is null. */
interface NewPasswordSteps<Found, Done, R> {
  look(token: Redacted.Redacted): Effect.Effect<Found | null, LinkFailure, R>
  set(token: Redacted.Redacted, password: Redacted.Redacted): Effect.Effect<Done | null, LinkFailure | PasswordUnfit, R>
  /** The form again, with its faults. */
  show(found: Found, token: Redacted.Redacted, faults: Html.Faults): Page<R>
  readonly ended: Page<R>
  done(done: Done): Page<R>
  /** The fault of a second password that differs. */
  readonly differs: string
}

/** Sets the password that was typed twice, or shows the form again with what is wrong. */
export const choose = Effect.fnUntraced(function*<Found, Done, R>(
  visit: PageRequest,
  { differs, done, ended, look, set, show }: NewPasswordSteps<Found, Done, R>
) {
  const form = yield* SentForm.read(visit)
  if (Option.isNone(form)) return yield* SentForm.foreign(visit)
  const token = form.value.secret("token")
  const again = (id: string, text: string) =>
    Effect.flatMap(look(token), (found) => found === null ? ended : show(found, token, new Map([[id, text]])))
  if (form.value.text("new") !== form.value.text("repeated")) return yield* again("repeated", differs)
  return yield* set(token, form.value.secret("new")).pipe(
    Effect.flatMap((made) => made === null ? ended : done(made)),
    Effect.catchTag("PasswordUnfit", ({ message }) => again("new", message))
  )
})
