import { Effect } from "effect"
import * as Changes from "../../changes/SharedChanges.ts"
import { ConsolePassword } from "../../domain/credentials/Credential.ts"
import {
  NotSuperadmin,
  OwnerRequired,
  PasswordIncorrect,
  ResourceMissing,
  TooManyAttempts
} from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { Organization, organization } from "../../domain/organization/Organization.ts"
import { AdminId } from "../../domain/people/Admin.ts"
import { transfers } from "../../domain/people/AdminRules.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Organizations } from "../../ports/organization/Organizations.ts"
import { ManagedAdmins } from "../../ports/people/ManagedAdmins.ts"
import * as CurrentPassword from "../CurrentPassword.ts"
import * as samples from "./people.samples.ts"

export const transferOwnership = Operation.write(
  "transfer_ownership",
  {
    summary: "Make an active superadmin the owner; the owner before becomes a superadmin.",
    description:
      "Both are mailed, and both keep their credentials. A connection that is limited to accounts or departments may not do it.",
    method: "POST",
    path: "/v1/organization/ownership",
    toolset: "admin",
    scope: "admins:write",
    roles: ["owner"],
    roleAfter: "superadmin",
    whole: true,
    confirm: true,
    idempotent: false,
    personal: "current_password",
    personalPage: "/console/people/:admin_id",
    body: {
      admin_id: AdminId.annotateKey({ description: "The superadmin's id, from list_admins." }),
      current_password: ConsolePassword.annotateKey({ description: "The owner's console password." })
    },
    success: Organization,
    sample: samples.transferOwnership,
    failures: [OwnerRequired, PasswordIncorrect, TooManyAttempts, ResourceMissing, NotSuperadmin],
    journal: journalAction("ownership.transferred"),
    before: ({ current_password }, { caller }) => CurrentPassword.verify(caller, current_password)
  },
  Effect.fnUntraced(function*({ admin_id }, { caller, now }) {
    const managed = yield* ManagedAdmins
    const organizations = yield* Organizations
    const locked = yield* managed.lock(caller.organizationId, [caller.adminId, admin_id])
    const owner = locked.find(({ id }) => id === caller.adminId)
    const next = locked.find(({ id }) => id === admin_id)
    if (owner?.role !== "owner") return yield* new OwnerRequired({})
    if (next === undefined) return yield* new ResourceMissing({ param: "admin_id" })
    const refused = transfers(owner, next)
    if (refused !== null) return yield* refused
    const { details, mails } = yield* Changes.transferOwnership(caller.organizationId, owner, next)
    return Operation.changed(organization(yield* organizations.facts(caller), now), details, next.id, [], mails)
  })
)
