/** The choices of an admin on the consent page: lists of any length, of which as much is read as is shown. */
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { accountName } from "../../../domain/accounts/Account.ts"
import { choicesListed, choicesSearched } from "../../../domain/oauth/OAuth.ts"
import type { Granter } from "../../../domain/oauth/OAuthRecords.ts"
import type { Choices, ListPart, ListQuery, OAuthGrants } from "../../../ports/oauth/OAuthPorts.ts"
import { canAccess, canAccessDepartment } from "../accounts/AccountAccess.ts"

export const unlimited = (admin: Granter) => ({ role: admin.role, adminId: admin.adminId, limit: null })

type Sql = SqlClient.SqlClient

interface AccountRow extends Omit<Choices["accounts"]["found"][number], "name"> {
  readonly first_name: string | null
  readonly last_name: string | null
  readonly username: string | null
}

interface List {
  readonly table: "account" | "department"
  readonly columns: Statement.Fragment
  /** Those that the admin may choose from. */
  readonly within: Statement.Fragment
  /** The text that is searched. */
  readonly text: Statement.Fragment
  readonly order: Statement.Fragment
}

const listed = Effect.fnUntraced(
  function*<A extends object>(sql: Sql, { columns, order, table, text, within }: List, { find, ticked }: ListQuery) {
    const [counted] = yield* sql<{ total: number }>`select count(*) as total from ${sql(table)} where ${within}`
    const total = counted?.total ?? 0
    const short = total <= choicesSearched
    const needle = short ? "" : find.normalize("NFKC").toLowerCase().trim()
    const apart = short ? [] : ticked
    const chosen = apart.length === 0 ? [] : yield* sql<A>`
      select ${columns} from ${sql(table)} where ${within} and id = any(${apart}::uuid[]) order by ${order}`
    const found = yield* sql<A & { readonly matching: number }>`
      select ${columns}, count(*) over () as matching from ${sql(table)}
      where ${within} and id <> all(${apart}::uuid[]) and strpos(${text}, ${needle}) > 0
      order by ${order} limit ${choicesListed}`
    return { total, ticked: chosen, matching: found[0]?.matching ?? 0, found } satisfies ListPart<A>
  }
)

/** The lists of the consent page, as `OAuthGrants` answers them. */
export const choices = Effect.fnUntraced(
  function*(sql: Sql, admin: Granter, wanted: Parameters<OAuthGrants["Service"]["choices"]>[1]) {
    const accounts = yield* listed<AccountRow>(sql, {
      table: "account",
      columns: sql`id, phone_number, first_name, last_name, username, role_label`,
      within: sql`organization_id = ${admin.organizationId} and ${canAccess(sql, unlimited(admin))}`,
      text: sql`concat_ws(' ', name_key, phone_number, lower(role_label))`,
      order: sql`name_key, id`
    }, wanted.accounts)
    const departments = yield* listed<Choices["departments"]["found"][number]>(sql, {
      table: "department",
      columns: sql`id, name`,
      within: sql`organization_id = ${admin.organizationId} and ${canAccessDepartment(sql, unlimited(admin))}`,
      text: sql`lower(name)`,
      order: sql`name, id`
    }, wanted.departments)
    const shown = ({ id, phone_number, role_label, ...names }: AccountRow) => ({
      id,
      name: accountName({ ...names, phone_number }),
      phone_number,
      role_label
    })
    return {
      accounts: { ...accounts, ticked: accounts.ticked.map(shown), found: accounts.found.map(shown) },
      departments
    } satisfies Choices
  },
  Effect.orDie
)
