/** Settles the standings of accounts: what time alone has ended is written down, so that pages need not look for it. */
import { Clock, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { OrganizationId } from "../../domain/Access.ts"
import * as Ports from "../../ports/index.ts"
import * as Tenant from "./Tenant.ts"

/** What ended so recently is left alone: the clocks of replicas may differ by a moment. */
const patience = Duration.minutes(1)

/** How many accounts one transaction settles. */
const batch = 1000

/** Settles every standing that ended a minute ago or earlier; answers how many. */
export const settle = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const db = yield* Ports.Db
  const until = new Date((yield* Clock.currentTimeMillis) - Duration.toMillis(patience))
  const organizations = yield* Tenant.directory(sql)(sql<{ id: string }>`select id from organization order by id`)
  let settled = 0
  for (const { id } of organizations) {
    const some = db.transaction(
      OrganizationId.make(id),
      Effect.orDie(sql`
        update account set settled_at = standing_until
        where organization_id = ${id} and account.id in (
          select due.id from account due
          where due.organization_id = ${id} and due.standing_until <= ${until}
          order by due.standing_until limit ${batch} for no key update skip locked)
        returning account.id`)
    )
    let found: number
    do {
      found = (yield* some).length
      settled += found
    } while (found === batch)
  }
  return settled
})
