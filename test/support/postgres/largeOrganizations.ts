/** Organizations large enough to tell a plan that looks for its rows from one that walks past them. */
import { Effect, Layer } from "effect"
import { AccountStatus } from "../../../src/domain/accounts/ProtectionStatus.ts"
import { fillCrowd } from "./crowd.ts"
import { postgresUrl } from "./database.ts"
import { postgresLayer } from "./databaseRoles.ts"
import { fillDatabase, idOf } from "./fill.ts"
import { superuser } from "./superuser.ts"

export const big = { id: "big", accounts: 20_000, events: 50_000, departments: 40 } as const
/** Two departments of thousands: one of them is far more than a page may read. */
export const wide = { id: "wide", accounts: 6000, events: 0, departments: 2 } as const
const numbers = (count: number, first = 1) => Array.from({ length: count }, (_, index) => first + index)
/** How many accounts of the wide one are granted and chosen one by one. */
const single = 60

/** What is chosen for a connection. */
type Chosen = readonly [
  organizationId: string,
  name: string,
  kind: "account" | "department",
  numbers: ReadonlyArray<number>
]
const chosen: ReadonlyArray<Chosen> = [
  [big.id, "some", "account", [1, 2, 500, 1000]],
  [big.id, "filed", "department", [1, 2, 7]],
  [big.id, "one", "account", [1]],
  [big.id, "many", "account", numbers(3000)],
  ...numbers(40, 0).map((other): Chosen => [big.id, `other ${other}`, "account", numbers(100, 100 * other + 1)]),
  [wide.id, "some", "account", numbers(single)],
  [wide.id, "filed", "department", [0, 1]],
  ...numbers(40).map((other): Chosen => [wide.id, `other ${other}`, "department", [0]])
]
/** In each of these everybody has one status, and nobody any other. */
export const uniform = AccountStatus.literals.map((everyone) => ({
  id: `all-${everyone.replaceAll("_", "-")}`,
  accounts: 2500,
  events: 0,
  departments: 10,
  everyone
}))

export const filled = Layer.unwrap(Effect.gen(function*() {
  const url = yield* postgresUrl
  const client = yield* superuser(url)
  yield* Effect.promise(async () => {
    await fillDatabase(client, [big, wide, ...uniform])
    for (const [organizationId, name, kind, numbers] of chosen) {
      const connection = idOf("connection", organizationId, "$2::text")
      await client.query(
        `insert into ai_connection (organization_id, id, admin_id, kind, label, client_name, client_host, mode, scopes,
          scope_type, resource, created_at, last_used_at)
        values ($1, ${connection}, ${idOf("admin", organizationId, "'owner'")}, 'oauth', 'App', 'App', 'app.example',
          'cloud', '{}', $3, 'https://console.test/v1', now(), now())`,
        [organizationId, name, `${kind}s`]
      )
      await client.query(
        `insert into ai_connection_${kind} (organization_id, connection_id, ${kind}_id, place)
        select $1, ${connection}, ${idOf(kind, organizationId, "n")}, n from unnest($3::int[]) n`,
        [organizationId, name, numbers]
      )
    }
    await client.query(
      `insert into admin_account (organization_id, admin_id, account_id)
      select '${wide.id}', ${idOf("admin", wide.id, "'admin'")}, ${idOf("account", wide.id, "n")}
      from generate_series(1, ${single}) n on conflict do nothing`
    )
    await fillCrowd(client, big.id)
    await client.query("analyze ai_connection, ai_connection_account, ai_connection_department")
    // Else no plan hopes to read an index alone.
    await client.query("vacuum account")
  })
  return postgresLayer(url)
}))
