import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { nearly } from "../../../domain/archive/StorageLimit.ts"
import type { OrganizationId } from "../../../domain/people/Access.ts"
import { ArchiveStorage } from "../../../ports/archive/ArchiveStorage.ts"
import * as Tenant from "../../postgres/Tenant.ts"

interface SumRow {
  readonly used: string
  readonly limit: string | null
  readonly near: boolean
  readonly warned: boolean
}

/** The sums of storage in SQL. */
export const layer = Layer.effect(
  ArchiveStorage,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const isNear = (used: Statement.Fragment) =>
      sql`coalesce(${used} >= storage_limit_bytes * ${nearly}::numeric, false)`

    return ArchiveStorage.of({
      due: Effect.map(
        Tenant.directory(sql)(sql<{ id: OrganizationId }>`
          select organization.id from organization
          left join (
            select organization_id, sum(archive_bytes) as bytes from archive_state
            where archive_bytes > 0 group by organization_id
          ) as taken on taken.organization_id = organization.id
          where archive_first_record_at is not null and (storage_used_bytes <> coalesce(taken.bytes, 0)
            or storage_warned <> ${isNear(sql`storage_used_bytes`)})
          order by organization.id`),
        (rows) => rows.map(({ id }) => id)
      ),

      // The sum is of what is committed once the row is locked, so that of two processes the later one has the newer.
      sum: Effect.fnUntraced(function*(organizationId) {
        yield* Tenant.post(sql)(sql`select 1 from organization where id = ${organizationId} for no key update`)
        const [row] = yield* sql<SumRow>`
          with taken as (
            select coalesce(sum(archive_bytes), 0)::bigint as bytes from archive_state where organization_id = ${organizationId}
          ), stored as (
            update organization set storage_used_bytes = taken.bytes from taken
            where organization.id = ${organizationId} and storage_used_bytes <> taken.bytes
          )
          select taken.bytes::text as used, storage_limit_bytes::text as limit, storage_warned as warned,
            ${isNear(sql`taken.bytes`)} as near
          from organization, taken where id = ${organizationId}`
        return {
          used: Number(row?.used ?? 0),
          limit: row?.limit === undefined || row.limit === null ? null : Number(row.limit),
          isNear: row?.near ?? false,
          warned: row?.warned ?? false
        }
      }, Effect.orDie),

      setWarned: (organizationId, warned) =>
        Tenant.post(sql)(sql`update organization set storage_warned = ${warned} where id = ${organizationId}`)
    })
  })
)
