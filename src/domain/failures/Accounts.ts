/** What the state of an account refuses. */
import { Schema } from "effect"
import { fields } from "./Base.ts"

export class NotActive
  extends Schema.TaggedError<NotActive>()("not_active", fields("The account is paused or offboarded."))
{
  static readonly status = 409
}

export class NotPaused extends Schema.TaggedError<NotPaused>()("not_paused", fields("The account is not paused.")) {
  static readonly status = 409
}
