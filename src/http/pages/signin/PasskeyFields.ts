/** Passkeys in forms: the question, and the answer that the script puts in. */
import type { PasskeyAnswer, PasskeyQuestion } from "../../../ports/signin/SecondFactors.ts"
import type * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"
import type * as SentForm from "../kit/SentForm.ts"

export interface Field {
  readonly verb: "create" | "get"
  readonly button: string
  /** True if the form is sent with the answer. */
  readonly send: boolean
  /** The field that need not be filled in then. */
  readonly instead?: string
}

const nameOf = (verb: Field["verb"]): string => verb === "create" ? "made_passkey" : "passkey"

/** The part of a form that a passkey answers; without a script it stays empty. */
export const field = ({ options, ticket }: PasskeyQuestion, { button, instead = "", send, verb }: Field): Html.Html =>
  html`
<div data-passkey="${verb}" data-options="${options}" data-send="${send ? "now" : "later"}" data-instead="${instead}">
  <input type="hidden" name="${nameOf(verb)}_ticket" value="${ticket}">
  <input type="hidden" name="${nameOf(verb)}" value="" data-answer>
  <button type="button"${send ? html` class="main"` : undefined} hidden>${button}</button>
  <noscript><p class="hint">Passkeys need JavaScript: this page runs one script of the console's own for them, and nothing else.</p></noscript>
  <p role="status" class="hint"></p>
</div>`

/** A passkey's response in a form; null where there is none. */
export const answerOf = (form: SentForm.Form, verb: Field["verb"]): PasskeyAnswer | null => {
  const response = form.text(nameOf(verb))
  return response === "" ? null : { ticket: form.text(`${nameOf(verb)}_ticket`), response }
}
