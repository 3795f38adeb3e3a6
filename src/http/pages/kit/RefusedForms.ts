/** An operation's refusal, for a page that shows its form again. */
import { Schema } from "effect"
import { answer } from "../../../transport/Answer.ts"
import { refusedCode, StepUpRefused } from "../signin/StepUp.ts"
import type * as Html from "./Html.ts"
import { html } from "./Html.ts"

/** A refusal of the page's own, about one field of its form. */
export class FieldRefused extends Schema.TaggedError<FieldRefused>()("FieldRefused", {
  field: Schema.String,
  message: Schema.String,
  status: Schema.Finite,
  /** The name of the refusal in the log. */
  code: Schema.String
}) {}

export interface RefusedForm {
  /** In the operation's words. */
  readonly problem: string
  readonly code: string
  /** The member that it is about. */
  readonly param: string | undefined
  /** The field that it is about, where the page knows. */
  readonly field?: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

/** The message of a failed operation, or of the step-up before it. */
export const of = (failure: unknown): RefusedForm => {
  if (failure instanceof StepUpRefused) {
    const { headers, message, status } = failure
    return { problem: message, code: refusedCode, param: undefined, status, headers }
  }
  if (failure instanceof FieldRefused) {
    const { code, field, message, status } = failure
    return { problem: message, code, param: undefined, field, status, headers: {} }
  }
  const { body: { error }, headers, status } = answer(failure)
  return { problem: error.message, code: error.code, param: error.param, status, headers }
}

/** The box above the page that shows it. */
export const box = (problem: string | undefined): Html.Html | undefined =>
  problem === undefined
    ? undefined
    : html`<div class="problem" role="alert"><h2>This was not done</h2><p>${problem}</p></div>`
