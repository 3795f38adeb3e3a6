/** The field of the phrase that confirms a deletion. */
import * as Fields from "../kit/Fields.ts"
import type * as Form from "../kit/Form.ts"
import type * as Html from "../kit/Html.ts"
import { html } from "../kit/Html.ts"

const name = "confirm_phrase"

/** A phrase that is refused is a fault of its field. */
export const phraseRefusals: Form.Refusals = { confirm_phrase_invalid: [name, "This is not the phrase."] }

export const phraseField = (faults: Html.Faults, phrase: string): Html.Html =>
  Fields.input(
    faults,
    { name, label: "Phrase that confirms it", hint: html`Type <code>${phrase}</code>.` },
    { required: true, maxlength: 200, ...Fields.verbatim }
  )
