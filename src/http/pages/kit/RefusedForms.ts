/** An operation's refusal, for a page that shows its form again. */
import { Effect } from "effect"
import { answer } from "../../../transport/Answer.ts"
import * as RequestLog from "../../../transport/RequestLog.ts"
import { refusedCode, StepUpRefused } from "../signin/StepUp.ts"
import * as Html from "./Html.ts"
import { html } from "./Html.ts"

export interface RefusedForm {
  /** In the operation's words. */
  readonly problem: string
  readonly code: string
  /** The member that it is about. */
  readonly param: string | undefined
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

/** The message of a failed operation, or of the step-up before it. */
export const of = (failure: unknown): RefusedForm => {
  if (failure instanceof StepUpRefused) {
    const { headers, message, status } = failure
    return { problem: message, code: refusedCode, param: undefined, status, headers }
  }
  const { body: { error }, headers, status } = answer(failure)
  return { problem: error.message, code: error.code, param: error.param, status, headers }
}

/** Shows the page with what was refused, instead of failing. */
export const orShow =
  <B, E2, R2>(show: (refused: RefusedForm) => Effect.Effect<B, E2, R2>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A | B, E2, R | R2> =>
    Effect.catch(effect, (failure) => {
      const refused = of(failure)
      return Effect.andThen(RequestLog.noteFailure(refused.code), show(refused))
    })

/** The fault of the refused field, worded for the form; none where the refusal is about no field. */
export const faultsOf = (refused: RefusedForm | undefined, inputs: Readonly<Record<string, string>>): Html.Faults => {
  const { code, param = "", problem } = refused ?? { code: "", problem: "" }
  const words = Object.hasOwn(inputs, param) ? inputs[param] : undefined
  if (words === undefined) return Html.noFaults
  return new Map([[param, code === "parameter_invalid" || code === "resource_missing" ? words : problem]])
}

/** The box above the page that shows it. */
export const box = (problem: string | undefined): Html.Html | undefined =>
  problem === undefined
    ? undefined
    : html`<div class="problem" role="alert"><h2>This was not done</h2><p>${problem}</p></div>`
