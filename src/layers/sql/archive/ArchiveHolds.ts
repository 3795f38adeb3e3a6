import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../../domain/accounts/Account.ts"
import { HoldId, type StoredHold } from "../../../domain/archive/ArchiveHold.ts"
import { ArchiveHolds } from "../../../ports/archive/ArchiveHolds.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import { areAccessible, canAccessAll, isAccessible } from "./AccessToAll.ts"
import { isHeld, keepsBefore } from "./HeldAccounts.ts"

/** The holds in SQL. Locks: the organization's lock of holds, shared by what deletes, alone by what places one. */
export const layer = Layer.effect(
  ArchiveHolds,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const random = yield* SecureRandom.SecureRandom
    const post = Tenant.post(sql)

    const columns = sql.literal(
      `id::text as id, name, account_ids::text[] as "accountIds", to_char(since, 'YYYY-MM-DD') as since,
      to_char(until, 'YYYY-MM-DD') as until, placed_by::text as "placedBy", placed_at as "placedAt",
      released_at as "releasedAt"`
    )

    return ArchiveHolds.of({
      // Two statements: the second one sees what was committed while the first one waited.
      binds: Effect.fnUntraced(function*(organizationId, { accountIds, before, days }) {
        yield* Tenant.takeTurn(sql, "archive_hold", organizationId, "shared")
        const found = yield* sql`
          select 1 from organization where id = ${organizationId} and archive_held_at is not null
          union all
          select 1 from archive_hold where organization_id = ${organizationId} and ${keepsBefore(sql, before)}
            and (${days ?? null}::date[] is null or exists (
              select 1 from unnest(${days ?? null}::date[]) as one (day)
              where (since is null or since <= one.day) and (until is null or until >= one.day)))
            and ${accountIds === null ? sql`true` : sql`(account_ids is null or account_ids && ${accountIds}::uuid[])`}
          limit 1`
        return found.length > 0
      }, Effect.orDie),

      free: Effect.fnUntraced(function*(organizationId, { accountIds, before }) {
        yield* Tenant.takeTurn(sql, "archive_hold", organizationId, "shared")
        const rows = yield* sql<{ id: AccountId }>`
          select named.id from unnest(${accountIds}::uuid[]) with ordinality as named (id, place)
          where not ${isHeld(sql, { organizationId, accountId: sql`named.id`, before })} order by place`
        return rows.map(({ id }) => id)
      }, Effect.orDie),

      list: Effect.fnUntraced(function*(caller, { after, limit }) {
        const mine = sql.and([
          sql`organization_id = ${caller.organizationId}`,
          isAccessible(sql, caller, sql`archive_hold.account_ids`)
        ])
        const [cursor] = after === undefined ? [] : yield* sql`
          select 1 from archive_hold where ${mine} and id = ${after}`
        if (after !== undefined && cursor === undefined) return null
        return yield* sql<StoredHold>`
          select ${columns} from archive_hold where ${mine} and ${after === undefined ? sql`true` : sql`id < ${after}`}
          order by archive_hold.id desc limit ${sql.literal(String(limit + 1))}`
      }, Effect.orDie),

      lock: (caller, id) =>
        sql<StoredHold>`
          select ${columns} from archive_hold
          where organization_id = ${caller.organizationId} and id = ${id}
            and ${isAccessible(sql, caller, sql`archive_hold.account_ids`)}
          for update`.pipe(Effect.orDie, Effect.map(([row]) => row ?? null)),

      reaches: (caller, accountIds) =>
        accountIds === null ? Effect.succeed(canAccessAll(caller)) : sql<{ reaches: boolean }>`
          select ${areAccessible(sql, caller, sql`${accountIds}::uuid[]`)} as reaches`.pipe(
          Effect.orDie,
          Effect.map(([row]) => row?.reaches ?? false)
        ),

      add: Effect.fnUntraced(function*(organizationId, hold) {
        const id = HoldId.make(yield* random.uuidV7())
        yield* Tenant.takeTurn(sql, "archive_hold", organizationId, "alone")
        yield* post(sql`
          insert into archive_hold (organization_id, id, name, account_ids, since, until, placed_at, placed_by)
          values (${organizationId}, ${id}, ${hold.name}, ${hold.accountIds}::uuid[], ${hold.since}::date,
            ${hold.until}::date, ${hold.placedAt}, ${hold.placedBy}::uuid)`)
        return id
      }),

      release: (organizationId, id, now) =>
        post(sql`
          update archive_hold set released_at = ${now} where organization_id = ${organizationId} and id = ${id}`),

      // The organization is locked first, as by what deletes the whole archive.
      holdAll: Effect.fnUntraced(function*(organizationId, heldAt) {
        const [found] = yield* sql<{ held: boolean }>`
          select archive_held_at is not null as held from organization where id = ${organizationId} for no key update`
        if (found?.held === (heldAt !== null)) return false
        yield* Tenant.takeTurn(sql, "archive_hold", organizationId, "alone")
        yield* post(sql`update organization set archive_held_at = ${heldAt} where id = ${organizationId}`)
        return true
      }, Effect.orDie)
    })
  })
)
