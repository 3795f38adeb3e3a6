/** The applications that an organization lets its admins connect, as an operator sets it. */
import { Effect, Schema } from "effect"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { Db } from "../../ports/Db.ts"
import { Applications } from "../../ports/oauth/Applications.ts"
import { type Entry, entry, existing, journaled, now } from "../Journaled.ts"
import { refuse, useCase } from "../UseCase.ts"

const Application = Schema.String.check(
  Schema.isPattern(/^(?:https:\/\/[\x21-\x7e]+|[a-z0-9.-]+(?::[0-9]{1,5})?)$/, {
    expected: "the host that an application's codes go to, or its own https:// address"
  }),
  Schema.isMaxLength(2048)
)

const Rules = Schema.Struct({
  organization: Schema.String,
  /** True if an application has to be approved before others than owner and superadmins may connect it. */
  approval_required: Schema.Boolean,
  approved: Schema.Array(Schema.String)
})

const rulesOf = Effect.fnUntraced(function*(organization: OrganizationId) {
  const { approvalRequired, approved } = yield* (yield* Applications).rules(organization)
  return { organization, approval_required: approvalRequired, approved }
})

/** Makes the change, with its entry where it changed something, and answers the rules. */
const changing = <E, R>(
  organization: OrganizationId,
  change: Effect.Effect<boolean, E, R>,
  made: Entry
) =>
  journaled(
    organization,
    Effect.gen(function*() {
      const changed = yield* change
      return [yield* rulesOf(organization), changed ? made : null]
    })
  )

export const listApplications = useCase(
  "applications_list",
  Schema.Struct({ organization: Schema.String }),
  Rules,
  ({ organization }) =>
    Effect.gen(function*() {
      const id = yield* existing(organization)
      return yield* (yield* Db).read(id, rulesOf(id))
    })
)

export const requireApproval = useCase(
  "applications_approval",
  Schema.Struct({ organization: Schema.String, required: Schema.Boolean }),
  Rules,
  ({ organization, required }) =>
    Effect.gen(function*() {
      const applications = yield* Applications
      const id = yield* existing(organization)
      return yield* changing(
        id,
        applications.requireApproval(id, required),
        entry("application.approval_set", id, { required })
      )
    })
)

export const approveApplication = useCase(
  "applications_approve",
  Schema.Struct({ organization: Schema.String, application: Schema.String }),
  Rules,
  ({ application, organization }) =>
    Effect.gen(function*() {
      if (!Schema.is(Application)(application)) {
        return yield* refuse(
          "An application is named by the host that its codes go to, such as assistant.example, or by its own address " +
            "that begins with https://."
        )
      }
      const applications = yield* Applications
      const id = yield* existing(organization)
      return yield* changing(
        id,
        applications.approve(id, application, yield* now),
        entry("application.approved", application)
      )
    })
)

export const withdrawApplication = useCase(
  "applications_withdraw",
  Schema.Struct({ organization: Schema.String, application: Schema.String }),
  Rules,
  ({ application, organization }) =>
    Effect.gen(function*() {
      const applications = yield* Applications
      const id = yield* existing(organization)
      return yield* changing(id, applications.withdraw(id, application), entry("application.withdrawn", application))
    })
)
