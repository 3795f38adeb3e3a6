/** The fields that requests of operators have in common. */
import { Schema } from "effect"

const maxName = 80

export const Email = Schema.String.check(Schema.isPattern(/^[^\s@]+@[^\s@]+$/, { expected: "an email address" }))
export const Name = Schema.String.check(Schema.isNonEmpty(), Schema.isMaxCodePoints(maxName))

/** An admin by organization and address. */
export const adminRef = { organization: Schema.String, email: Email }
