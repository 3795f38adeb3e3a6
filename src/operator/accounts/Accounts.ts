/** The accounts of an organization, as an operator asks for them. */
import { Clock, Effect, Schema } from "effect"
import { AccountId, accountName, DepartmentId } from "../../domain/accounts/Account.ts"
import { AccountStatus, deriveStatus } from "../../domain/accounts/ProtectionStatus.ts"
import { Timestamp } from "../../domain/JsonShapes.ts"
import { Tier } from "../../domain/organization/Organization.ts"
import { Accounts } from "../../ports/accounts/Accounts.ts"
import { Db } from "../../ports/Db.ts"
import { existing } from "../Journaled.ts"
import { useCase } from "../UseCase.ts"

const Listed = Schema.Struct({
  id: AccountId,
  name: Schema.String,
  phone_number: Schema.String,
  role_label: Schema.NullOr(Schema.String),
  department_id: Schema.NullOr(DepartmentId),
  status: AccountStatus,
  licence_tier: Schema.NullOr(Tier),
  joined_at: Schema.NullOr(Timestamp),
  offboarded_at: Schema.NullOr(Timestamp)
})

/** A page of the accounts, by name. */
export const listAccounts = useCase(
  "accounts_list",
  Schema.Struct({
    organization: Schema.String,
    after: Schema.NullOr(AccountId),
    limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 }))
  }),
  Schema.Struct({ accounts: Schema.Array(Listed), has_more: Schema.Boolean }),
  ({ after, limit, organization }) =>
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const id = yield* existing(organization)
      const found = yield* (yield* Db).read(id, accounts.every(id, after, limit + 1))
      const now = new Date(yield* Clock.currentTimeMillis)
      return {
        accounts: found.slice(0, limit).map((facts) => ({
          id: facts.id,
          name: accountName(facts),
          phone_number: facts.phone_number,
          role_label: facts.role_label,
          department_id: facts.department_id,
          status: deriveStatus(facts, now),
          licence_tier: facts.licence_tier,
          joined_at: facts.joined_at,
          offboarded_at: facts.offboarded_at
        })),
        has_more: found.length > limit
      }
    })
)
