/** The texts that accounts are found by, in a table of their own: other changes of an account write no index of them. */
import type { SqlClient, Statement } from "effect/sql"
import { type Searched, searchText } from "../../../domain/accounts/AccountSearch.ts"

/** Adds the text of an account that was just added. */
export const add = (
  sql: SqlClient.SqlClient,
  organizationId: string,
  id: string,
  searched: Searched
): Statement.Statement<unknown> =>
  sql`insert into account_search (organization_id, account_id, department_id, search_text)
    select organization_id, id, department_id, ${searchText(searched)} from account
    where organization_id = ${organizationId} and id = ${id}`

/** Sets the text of an account whose names or label change. */
export const set = (
  sql: SqlClient.SqlClient,
  organizationId: string,
  id: string,
  searched: Searched
): Statement.Statement<unknown> =>
  sql`update account_search set search_text = ${searchText(searched)}
    where organization_id = ${organizationId} and account_id = ${id}`
