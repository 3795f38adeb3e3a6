/** Asking for the second factor again, where the console password is asked for again too. */
import { Duration, Effect, Schema } from "effect"
import { PasswordIncorrect, TooManyAttempts } from "../../../domain/Failure.ts"
import { factorRemembered } from "../../../domain/Limits.ts"
import type { SignedIn } from "../../../ports/signin/ConsoleSessions.ts"
import { SecondFactors } from "../../../ports/signin/SecondFactors.ts"
import * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import type { PageRequest } from "../kit/PageRequest.ts"
import type * as SentForm from "../kit/SentForm.ts"
import * as Serving from "../kit/Serving.ts"
import * as Passkeys from "./PasskeyFields.ts"
import * as PasskeyScript from "./PasskeyScript.ts"

/** The second factor was not given, with the place and text of the message. */
export class StepUpRefused extends Schema.TaggedError<StepUpRefused>()("StepUpRefused", {
  message: Schema.String,
  status: Schema.Finite,
  headers: Schema.Record(Schema.String, Schema.String)
}) {}

/** The name of a refusal in the log. */
export const refusedCode = "second_factor_required"

/** The field that a refusal belongs to. */
export const fieldId = "code"

/** The part of a form, and the script that its page runs; neither where the session need not ask. */
export interface Part {
  readonly field?: Html.Html
  readonly script?: string | undefined
}

interface StepUpRequest {
  readonly admin: SignedIn
  readonly visit: PageRequest
}

/** The second-factor fields of a form, for an admin who has one and has not given it within the last minutes. */
export const part = Effect.fnUntraced(function*({ admin, visit }: StepUpRequest, faults: Html.Faults, when?: string) {
  const factors = yield* SecondFactors
  if (yield* factors.remembered(admin)) return {}
  const question = yield* factors.ask({ ...admin, subject: admin.sessionId }, visit.site)
  const made: Part = {
    script: question === null ? undefined : PasskeyScript.addressAt(visit.site),
    field: html`
<div class="field">
  <label for="${fieldId}">Second factor</label>
  <p class="hint" id="${fieldId}-hint">${
      when === undefined ? undefined : `${when} `
    }The six digits of your authenticator app, or a recovery code${
      question === null ? "" : "; or use a passkey below"
    }.</p>
  ${Html.fault(faults, fieldId)}
  <input type="text" id="${fieldId}" name="${fieldId}"${
      when === undefined ? html` required` : undefined
    } autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="64"${
      Html.described(faults, fieldId, true)
    }>
</div>
${
      question === null
        ? undefined
        : Passkeys.field(question, { verb: "get", button: "Use a passkey", send: false, instead: fieldId })
    }`
  }
  return made
})

/** Fails unless the form gives the second factor, or the session need not ask. */
export const check = Effect.fnUntraced(function*({ admin, visit }: StepUpRequest, form: SentForm.Form) {
  const factors = yield* SecondFactors
  if (yield* factors.remembered(admin)) return
  const passkey = Passkeys.answerOf(form, "get")
  if (passkey === null && form.text(fieldId).trim() === "") {
    return yield* new StepUpRefused({ message: "Give your second factor.", status: 403, headers: {} })
  }
  const answer = passkey === null
    ? { kind: "code" as const, code: form.secret(fieldId) }
    : { kind: "passkey" as const, ...passkey }
  yield* factors.confirm(admin, answer, visit).pipe(
    Serving.showRefusal,
    Effect.catchTag(
      "SecondFactorIncorrect",
      ({ message }) => Effect.fail(new StepUpRefused({ message, status: 403, headers: {} }))
    ),
    Effect.catchTag("too_many_attempts", ({ message, retry_after }) =>
      Effect.fail(
        new StepUpRefused({ message, status: 429, headers: { "retry-after": String(retry_after) } })
      ))
  )
})

type Refusal = StepUpRefused | PasswordIncorrect | TooManyAttempts

const isRefusal = (failure: unknown): boolean =>
  failure instanceof StepUpRefused || failure instanceof PasswordIncorrect || failure instanceof TooManyAttempts

/** Shows a form again where the password or the second factor that it gives is refused, with the message at its field. */
export const again = <B, E2, R2>(
  show: (
    status: number,
    field: string,
    text: string,
    headers: Readonly<Record<string, string>>
  ) => Effect.Effect<B, E2, R2>
) =>
<A, E, R>(effect: Effect.Effect<A, E | Refusal, R>) =>
  Effect.catchIf(
    effect,
    (failure): failure is Extract<E | Refusal, Refusal> => isRefusal(failure),
    (refusal: Refusal) => {
      switch (refusal._tag) {
        case "StepUpRefused":
          return show(refusal.status, fieldId, refusal.message, refusal.headers)
        case "password_incorrect":
          return show(403, "password", refusal.message, {})
        case "too_many_attempts":
          return show(429, "password", refusal.message, { "retry-after": String(refusal.retry_after) })
      }
    }
  )

/** The page that takes the second factor ahead of pages with many forms, which then need not ask. */
export const confirmPath = "/console/security/confirm"

/** The notice above a page with many forms, where the second factor has to be given first. */
export const note = Effect.fnUntraced(
  function*({ admin, visit }: StepUpRequest, path: string, what = "What gives or takes rights") {
    if (yield* (yield* SecondFactors).remembered(admin)) return undefined
    return html`<p class="note">${what} needs your second factor. <a href="${visit.base}${confirmPath}?return_to=${
      encodeURIComponent(path)
    }">Give it now</a>, and these forms work for ${Duration.toMinutes(factorRemembered)} minutes.</p>`
  }
)

/** Fails unless the session need not ask. */
export const demand = Effect.fnUntraced(function*({ admin }: StepUpRequest) {
  if (yield* (yield* SecondFactors).remembered(admin)) return
  return yield* new StepUpRefused({
    message: "This needs your second factor: give it by the link at the top of this page, then repeat what you did.",
    status: 403,
    headers: {}
  })
})
