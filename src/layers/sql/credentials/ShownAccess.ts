/** The access of each connection, as the list of connections shows it. */
import type { SqlClient, Statement } from "effect/sql"
import { accountsShown } from "../../../domain/credentials/Credential.ts"
import { type Caller, canAccessEveryAccount, isNarrowing, Role } from "../../../domain/people/Access.ts"
import { canAccess, canAccessDepartment } from "../accounts/AccountAccess.ts"

const unbounded = Role.literals.filter(canAccessEveryAccount)

/** The ids chosen for the connection in their order, of those that the caller's own credential can access. */
const chosen = (sql: SqlClient.SqlClient, caller: Caller["Service"], kind: "account" | "department") => {
  const id = sql(`${kind}_id`)
  const known = !isNarrowing(caller.limit) ? sql`true` : sql`exists (
    select 1 from ${sql(kind)}
    where ${sql(kind)}.organization_id = chosen.organization_id and ${sql(kind)}.id = ${id}
      and ${kind === "account" ? canAccess(sql, caller) : canAccessDepartment(sql, caller)})`
  return sql`array(
    select ${id} from ${sql(`ai_connection_${kind}`)} chosen
    where chosen.organization_id = ai_connection.organization_id and chosen.connection_id = ai_connection.id and ${known}
    order by place)`
}

/**
 * The ids of the accounts that the admin of the connection can access, in the console's order, of those that the
 * caller's own credential can access; none of them where there are more than are shown.
 */
const everything = (sql: SqlClient.SqlClient, caller: Caller["Service"]): Statement.Fragment => {
  const known = isNarrowing(caller.limit) ? canAccess(sql, caller) : sql`true`
  const first = sql`order by name_key, account.id limit ${accountsShown + 1}`
  const mine = sql`account.organization_id = ai_connection.organization_id and ${known}`
  const granted = sql`not ${sql.in("admin.role", unbounded)}
    and granted.organization_id = admin.organization_id and granted.admin_id = admin.id`
  return sql`(
    select case when count(*) <= ${accountsShown} then coalesce(array_agg(id order by name_key, id), '{}') else '{}' end
    from (
      (select name_key, account.id from account where ${mine} and ${sql.in("admin.role", unbounded)} ${first})
      union
      (select name_key, account.id from admin_account granted
        join account on account.id = granted.account_id and ${mine} where ${granted} ${first})
      union
      (select page.* from admin_department granted
        cross join lateral (
          select name_key, account.id from account where account.department_id = granted.department_id and ${mine}
          ${first}
        ) as page
        where ${granted})
    ) as found)`
}

/**
 * The columns `all_accounts`, `account_ids` and `department_ids` of `ai_connection`, which is joined to its `admin`.
 */
export const shownAccess = (sql: SqlClient.SqlClient, caller: Caller["Service"]): Statement.Fragment =>
  sql`all_accounts,
    case when all_accounts then ${everything(sql, caller)} else ${chosen(sql, caller, "account")} end as account_ids,
    ${chosen(sql, caller, "department")} as department_ids`
