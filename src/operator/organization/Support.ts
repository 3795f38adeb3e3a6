/** An operator's actions on requests to the support. */
import { Effect, Schema } from "effect"
import { Text } from "../../domain/JsonShapes.ts"
import { maxSupportMessageLength } from "../../domain/Limits.ts"
import { supportAnswered } from "../../domain/mail/index.ts"
import { SupportRequest, supportRequest } from "../../domain/organization/Support.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { Db } from "../../ports/Db.ts"
import { Support } from "../../ports/organization/Support.ts"
import { change, entry, existing, now } from "../Journaled.ts"
import { refuse, useCase } from "../UseCase.ts"

const requestsListed = 200

export const listSupport = useCase(
  "support_list",
  Schema.Struct({ organization: Schema.String }),
  Schema.Struct({ requests: Schema.Array(SupportRequest) }),
  ({ organization }) =>
    Effect.gen(function*() {
      const id = yield* existing(organization)
      const at = yield* now
      const found = yield* (yield* Db).read(id, (yield* Support).all(id, requestsListed))
      return { requests: found.map((facts) => supportRequest(facts, at)) }
    })
)

const numbered = { organization: Schema.String, number: Schema.Int }

/** The request of a number, held. */
const locked = Effect.fnUntraced(function*(organization: OrganizationId, number: number) {
  const found = yield* (yield* Support).lockNumbered(organization, number)
  return found ?? (yield* refuse(`${organization} has no request ${number}.`))
})

export const answerSupport = change(
  "support_answer",
  Schema.Struct({ ...numbered, answer: Text(maxSupportMessageLength).check(Schema.isNonEmpty()) }),
  SupportRequest,
  ({ answer, number }, { at, id }) =>
    Effect.gen(function*() {
      const support = yield* Support
      const found = yield* locked(id, number)
      if (found.state === "closed") return yield* refuse(`Request ${number} is closed.`)
      yield* support.answer(id, found.id, answer, at)
      const answered = { ...found, state: "answered" as const, answer, answered_at: at, updated_at: at }
      return [
        supportRequest(answered, at),
        entry("support_request.answered", found.id, { number }),
        [supportAnswered({ adminId: found.created_by, number, subject: found.subject, answer })]
      ]
    })
)

export const closeSupport = change(
  "support_close",
  Schema.Struct(numbered),
  SupportRequest,
  ({ number }, { at, id }) =>
    Effect.gen(function*() {
      const support = yield* Support
      const found = yield* locked(id, number)
      if (found.state === "closed") return [supportRequest(found, at), null]
      yield* support.close(id, found.id, at)
      return [
        supportRequest({ ...found, state: "closed", updated_at: at }, at),
        entry("support_request.closed", found.id, { number })
      ]
    })
)
