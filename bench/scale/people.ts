/** What is asked of an organization with many admins and departments. */
import type { Client } from "pg"
import type { Filling } from "../../test/support/postgres/fill.ts"
import type { Asker, Case } from "./cases.ts"

/** How long a page may take in the database. */
export const peopleGoal = 20

/** The largest pages of admins and of departments, for everybody who asks. */
export const peopleCasesOf = async (superuser: Client, { admins = 0, departments, id }: Filling): Promise<
  ReadonlyArray<Case>
> => {
  const middle = async (table: "admin" | "department", order: string, count: number) => {
    const { rows } = await superuser.query<{ id: string }>(
      `select id from ${table} where organization_id = $1 order by ${order}, id offset $2 limit 1`,
      [id, Math.floor(count / 2)]
    )
    return `starting_after=${rows[0]?.id}`
  }
  const page = (operation: "list_admins" | "list_departments") => (asker: Asker, what: string, query = ""): Case => ({
    operation,
    asker,
    what,
    path: `/v1/${operation === "list_admins" ? "admins" : "departments"}?limit=100${query}`
  })
  const ofAdmins = page("list_admins")
  const ofDepartments = page("list_departments")
  const askers = ["owner", "admin", "limited"] as const
  return [
    ...askers.map((asker) => ofAdmins(asker, "start")),
    ofAdmins("owner", "middle", `&${await middle("admin", `(role <> 'owner'), lower(email collate "C")`, admins)}`),
    ofAdmins("owner", "role admin", "&role=admin"),
    ofAdmins("owner", "status disabled", "&status=disabled"),
    ...askers.map((asker) => ofDepartments(asker, "start")),
    ofDepartments("owner", "middle", `&${await middle("department", "name_key", departments)}`)
  ]
}
