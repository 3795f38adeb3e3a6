import { Effect, Schema } from "effect"
import { DepartmentId } from "../../domain/accounts/Account.ts"
import {
  AlreadyConnected,
  NoFreeSeat,
  NotLicensed,
  ParameterInvalid,
  ResourceMissing,
  RoleForbidden
} from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { Line } from "../../domain/JsonShapes.ts"
import { maxRoleLabelLength } from "../../domain/Limits.ts"
import { admits } from "../../domain/logins/Connecting.ts"
import { Login } from "../../domain/logins/Login.ts"
import { PhoneNumber } from "../../domain/logins/PhoneNumber.ts"
import { isNarrowing, protectors } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Logins } from "../../ports/logins/Logins.ts"
import { Departments } from "../../ports/people/Departments.ts"
import * as samples from "./logins.samples.ts"
import { enter, refusals, steps } from "./Starting.ts"

const unfiled = "A connection that is limited to departments names the one that the account comes into."

export const startAccountConnect = Operation.login(
  "start_account_connect",
  {
    summary: "Begin to connect an account: the messenger sends its holder a code.",
    description:
      "The holder passes on the code, which goes into submit_login_code. Somebody who can access only some accounts names a department that they are granted, or is granted the account when it is connected. An account that was offboarded comes back with its archive. Starting again with the same number returns the login that is open.",
    method: "POST",
    path: "/v1/logins",
    toolset: "accounts",
    scope: "accounts:write",
    roles: protectors,
    whole: "accounts",
    idempotent: false,
    body: {
      phone_number: PhoneNumber.annotateKey({ description: "The account's phone number, in E.164." }),
      role_label: Schema.optionalKey(Line(maxRoleLabelLength)).annotateKey({
        description: "The organization's own label of the account."
      }),
      department_id: Schema.optionalKey(DepartmentId).annotateKey({
        description: "The department that the account comes into, from list_departments."
      })
    },
    success: Login,
    sample: samples.startAccountConnect,
    failures: [
      RoleForbidden,
      ResourceMissing,
      NoFreeSeat,
      NotLicensed,
      AlreadyConnected,
      ...refusals
    ],
    journal: journalAction("login.started")
  },
  {
    ...steps,
    enter: ({ department_id = null, phone_number, role_label = null }, context) =>
      Effect.gen(function*() {
        const { caller, now, organization } = context
        if (department_id === null && isNarrowing(caller.limit)) {
          return yield* new ParameterInvalid({ param: "department_id", message: unfiled })
        }
        if (department_id !== null) {
          const { accessible } = yield* (yield* Departments).lockMove(caller, null, department_id)
          if (!accessible) return yield* new ResourceMissing({ param: "department_id" })
        }
        const refused = admits(organization, true, now)
        if (refused !== null) return yield* refused === "no_free_seat" ? new NoFreeSeat({}) : new NotLicensed({})
        if (yield* (yield* Logins).isKnownNumber(caller.organizationId, phone_number)) {
          return yield* new AlreadyConnected({ param: "phone_number" })
        }
        return yield* enter({
          accountId: null,
          phoneNumber: phone_number,
          ownNumber: false,
          roleLabel: role_label,
          departmentId: department_id
        }, context)
      })
  }
)
