/** The conditions for the accounts that a caller can access, which several queries share. */
import type { SqlClient, Statement } from "effect/sql"
import { type AccessLimit, type Caller, canAccessEveryAccount, isNarrowing } from "../../../domain/people/Access.ts"

/** The facts of a caller that decide which accounts they can access. */
export type AccessingCaller = Pick<Caller["Service"], "adminId" | "limit" | "role">

/**
 * Holds for a row of `account` that the admin can access: every one, or those granted by themselves or by department.
 */
const ofAdmin = (sql: SqlClient.SqlClient, { adminId, role }: AccessingCaller): Statement.Fragment =>
  canAccessEveryAccount(role)
    ? sql`true`
    : sql`(
        exists (
          select 1 from admin_account granted
          where granted.organization_id = account.organization_id and granted.admin_id = ${adminId}
            and granted.account_id = account.id)
        or exists (
          select 1 from admin_department granted
          where granted.organization_id = account.organization_id and granted.admin_id = ${adminId}
            and granted.department_id = account.department_id))`

/** The condition that the connection was given a row of `account`, by itself or by its department. */
const chosen = (sql: SqlClient.SqlClient, { connectionId, scopeType }: AccessLimit): Statement.Fragment =>
  scopeType === "accounts"
    ? sql`exists (
        select 1 from ai_connection_account chosen
        where chosen.organization_id = account.organization_id and chosen.connection_id = ${connectionId}
          and chosen.account_id = account.id)`
    : sql`exists (
        select 1 from ai_connection_department chosen
        where chosen.organization_id = account.organization_id and chosen.connection_id = ${connectionId}
          and chosen.department_id = account.department_id)`

/**
 * Holds for a row of `account` that the caller can access: the admin does, and the credential is not limited to others.
 */
export const canAccess = (sql: SqlClient.SqlClient, caller: AccessingCaller): Statement.Fragment =>
  isNarrowing(caller.limit) ? sql`(${ofAdmin(sql, caller)} and ${chosen(sql, caller.limit)})` : ofAdmin(sql, caller)

/**
 * True if the caller can access the account of an id, at the same cost whether it cannot or there is none: the account
 * with the next id is looked at in the place of one that is not there.
 */
export const canAccessId = (
  sql: SqlClient.SqlClient,
  caller: AccessingCaller & Pick<Caller["Service"], "organizationId">,
  id: string
): Statement.Fragment =>
  canAccessEveryAccount(caller.role) && !isNarrowing(caller.limit)
    ? sql`true`
    : sql`(
        select ${canAccess(sql, caller)} and account.id = ${id} from (
          select organization_id, id, department_id from account
          where organization_id = ${caller.organizationId} and id >= ${id}
          order by id limit 1) as account)`

/**
 * The account of an id that is known, as `account`. The fence has it found by its id, whatever else is asked of it:
 * otherwise a plan may scan a department's whole index, once for each id.
 */
export const accountOf = (
  sql: SqlClient.SqlClient,
  organizationId: string,
  id: Statement.Fragment
): Statement.Fragment =>
  sql`(select * from account where organization_id = ${organizationId} and account.id = ${id} offset 0) as account`

/**
 * Queries of what a caller can access: departments with all their accounts (`department_id`), and accounts
 * (`account_id`).
 */
export interface AccessSources {
  readonly departments: Statement.Fragment | undefined
  readonly accounts: Statement.Fragment | undefined
}

/** The sources of what the caller can access, or null for one who can access every account. */
export const accessSources = (sql: SqlClient.SqlClient, caller: Caller["Service"]): AccessSources | null => {
  const { adminId, limit, organizationId, role } = caller
  const granted = sql`granted.organization_id = ${organizationId} and granted.admin_id = ${adminId}`
  if (!isNarrowing(limit)) {
    return canAccessEveryAccount(role) ? null : {
      departments: sql`select department_id from admin_department granted where ${granted}`,
      accounts: sql`select account_id from admin_account granted where ${granted}`
    }
  }
  // As an array, of which every plan expects few: by statistics, one long list would make the plans of all short ones.
  const kind = limit.scopeType === "accounts" ? "account" : "department"
  const ids = sql`any(array(
    select ${sql(`${kind}_id`)} from ${sql(`ai_connection_${kind}`)}
    where organization_id = ${organizationId} and connection_id = ${limit.connectionId}))`
  if (limit.scopeType === "accounts") {
    return {
      departments: undefined,
      accounts: sql`select account.id as account_id from account
        where organization_id = ${organizationId} and account.id = ${ids} and ${ofAdmin(sql, caller)}`
    }
  }
  if (canAccessEveryAccount(role)) {
    return {
      departments: sql`select id as department_id from department
        where organization_id = ${organizationId} and id = ${ids}`,
      accounts: undefined
    }
  }
  return {
    departments: sql`select department_id from admin_department granted where ${granted} and department_id = ${ids}`,
    accounts: sql`select account_id from admin_account granted
      cross join lateral ${accountOf(sql, organizationId, sql`granted.account_id`)}
      where ${granted} and account.department_id = ${ids}`
  }
}

/** The condition that the caller can access all the accounts of a row of `department`. */
export const canAccessDepartment = (sql: SqlClient.SqlClient, caller: AccessingCaller): Statement.Fragment =>
  sql.and([
    canAccessEveryAccount(caller.role)
      ? sql`true`
      : sql`exists (
          select 1 from admin_department granted
          where granted.organization_id = department.organization_id and granted.admin_id = ${caller.adminId}
            and granted.department_id = department.id)`,
    !isNarrowing(caller.limit)
      ? sql`true`
      : caller.limit.scopeType === "accounts"
      ? sql`false`
      : sql`exists (
          select 1 from ai_connection_department chosen
          where chosen.organization_id = department.organization_id
            and chosen.connection_id = ${caller.limit.connectionId} and chosen.department_id = department.id)`
  ])

/** The rows of several queries together, each row once. */
export const union = (
  sql: SqlClient.SqlClient,
  queries: ReadonlyArray<Statement.Fragment>
): Statement.Fragment => queries.reduce((all, query) => sql`${all} union ${query}`)
