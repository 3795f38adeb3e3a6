import { Clock, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { Slot } from "../../../domain/accounts/Slot.ts"
import type { SessionRef } from "../../../domain/messenger/Messenger.ts"
import { Monitors, type OpenSession } from "../../../ports/protection/Monitors.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as MonitorClaims from "./MonitorClaims.ts"
import * as Slots from "./Slots.ts"

/** Rows are locked by their ids, as by everybody who locks several. */
const finished = `
  with done as (
    select monitor.organization_id, monitor.account_id, fence_then, epoch_then, next_then
    from unnest($2::text[], $3::uuid[], $4::bigint[], $5::int[], $6::timestamptz[])
      as done (organization_id, account_id, fence_then, epoch_then, next_then)
    join monitor on monitor.organization_id = done.organization_id and monitor.account_id = done.account_id
    order by monitor.organization_id, monitor.account_id for no key update of monitor
  )
  update monitor set last_polled_at = $1, last_ok_at = $1, busy_by = null, busy_until = null,
    next_at = case
      when epoch <> done.epoch_then then next_at
      when urgent then least(next_at, done.next_then)
      else done.next_then
    end
  from done where monitor.organization_id = done.organization_id and monitor.account_id = done.account_id
    and fence = done.fence_then
  returning fence`

const pushed = `
  with pushed as (
    select organization_id, account_id
    from unnest($1::text[], $2::uuid[]) as pushed (organization_id, account_id)
    join monitor using (organization_id, account_id)
    order by organization_id, account_id for no key update of monitor
  )
  update monitor set urgent = true, look_at = case when $4 then $3 else look_at end, next_at = case
      when busy_until > $3 then $5
      else least(next_at, $5)
    end
  from pushed where monitor.organization_id = pushed.organization_id and monitor.account_id = pushed.account_id
    and next_at is not null
  returning fence`

const unwatched = `
  select ref from unnest($1::text[], $2::uuid[], $3::text[]) as open (organization_id, account_id, ref)
  where not exists (
    select from monitor join service_session as own on own.organization_id = monitor.organization_id
      and own.account_id = monitor.account_id and own.slot <> 'retired'
    where monitor.organization_id = open.organization_id and monitor.account_id = open.account_id
      and next_at is not null and session_ref = ref)`

const watchedSessions = (slots: ReadonlySet<Slot>) => `
  select monitor.organization_id as "organizationId", monitor.account_id::text as "accountId", session_ref as ref
  from monitor join service_session as main on main.organization_id = monitor.organization_id
    and main.account_id = monitor.account_id and main.slot = 'main'
  where next_at is not null ${Slots.filter(slots, "and monitor.slot", 2)}
  order by due_at nulls last limit $1`

/** The monitors' rows, read and written outside any organization. */
export const layer = Layer.effect(
  Monitors,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const random = yield* SecureRandom.SecureRandom

    return {
      claim: MonitorClaims.make(sql, random),

      finish: Effect.fnUntraced(function*(looks) {
        if (looks.length === 0) return
        const now = new Date(yield* Clock.currentTimeMillis)
        yield* Tenant.askByIndex(sql, finished, [
          now,
          looks.map(({ organizationId }) => organizationId),
          looks.map(({ accountId }) => accountId),
          looks.map(({ fence }) => fence),
          looks.map(({ epoch }) => epoch),
          looks.map(({ next_at }) => next_at)
        ])
      }),

      nextDue: Effect.map(
        Tenant.askInOrder<{ next_at: Date | null }>(
          sql,
          `select least((select min(${MonitorClaims.poll}) from monitor where ${MonitorClaims.polls}),
            (select min(${MonitorClaims.pressing}) from monitor where ${MonitorClaims.presses})) as next_at`,
          []
        ),
        ([row]) => row?.next_at ?? null
      ),

      push: Effect.fnUntraced(function*(accounts, { at, look }) {
        const now = new Date(yield* Clock.currentTimeMillis)
        yield* Tenant.askByIndex(sql, pushed, [
          accounts.map(({ organizationId }) => organizationId),
          accounts.map(({ accountId }) => accountId),
          now,
          look,
          at
        ])
      }),

      sessions: (slots, limit) => Tenant.ask<OpenSession>(sql, watchedSessions(slots), [limit, ...Slots.values(slots)]),

      unwatched: (open) =>
        open.length === 0 ? Effect.succeed([]) : Effect.map(
          Tenant.ask<{ ref: SessionRef }>(sql, unwatched, [
            open.map(({ organizationId }) => organizationId),
            open.map(({ accountId }) => accountId),
            open.map(({ ref }) => ref)
          ]),
          (rows) => rows.map(({ ref }) => ref)
        )
    }
  })
)
