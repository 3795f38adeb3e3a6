import { Clock, Duration, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { OrganizationId } from "../../domain/Access.ts"
import { AccountId } from "../../domain/Account.ts"
import { guardHeld } from "../../domain/Limits.ts"
import { SessionRef } from "../../domain/Messenger.ts"
import { type Claimed, Monitors, type Taken, type Wanted } from "../../engine/Monitors.ts"
import * as Tenant from "./Tenant.ts"

interface Row extends Omit<Claimed, "accountId" | "main" | "organizationId"> {
  readonly pressing: Date | null
  /** Null where no account was taken. */
  readonly organization_id: string | null
  readonly account_id: string
  readonly main_id: string | null
  readonly main_ref: string | null
}

const claimed = (
  { account_id, main_id, main_ref, organization_id, pressing: _, ...row }: Row
): ReadonlyArray<Claimed> =>
  organization_id === null ? [] : [{
    ...row,
    organizationId: OrganizationId.make(organization_id),
    accountId: AccountId.make(account_id),
    main: main_id === null || main_ref === null ? null : { id: main_id, session_ref: SessionRef.make(main_ref) }
  }]

const taken = (rows: ReadonlyArray<Row>): Taken => ({
  accounts: rows.flatMap(claimed),
  pressing: rows[0]?.pressing ?? null
})

/** When an account presses: an operation, a push or a deadline waits for it. A poll that is late holds no deadline back. */
const pressing = `case when urgent then next_at else greatest(next_at, due_at) end`
const presses = "next_at is not null and (urgent or due_at is not null)"

const awaited = "(flood_until is null or flood_until <= $1)"
const free = `(busy_until is null or busy_until <= $1) and ${awaited}`

/**
 * Takes those that are due and free, polls last, skipping what another process is taking. What becomes urgent while an
 * account is held came after the claim.
 */
const taking = (crowded: "<> all" | "= any") => `
  with pressing as (
    select organization_id, account_id from monitor
    where ${presses} and (${pressing}) <= $1 and ${free} and organization_id ${crowded} ($5::text[])
    order by (${pressing}) limit $2 for no key update skip locked
  ), polls as (
    select organization_id, account_id from monitor
    where next_at is not null and not urgent and next_at <= $1 and (due_at is null or due_at > $1) and ${free}
      and organization_id ${crowded} ($5::text[])
    order by next_at limit greatest($2 - (select count(*) from pressing), 0) for no key update skip locked
  ), due as (select * from pressing union all select * from polls),
  taken as (update monitor set busy_by = $3, busy_until = $4, fence = fence + 1, urgent = false
  from due left join service_session as main on main.organization_id = due.organization_id
    and main.account_id = due.account_id and main.slot = 'main'
  where monitor.organization_id = due.organization_id and monitor.account_id = due.account_id
  returning monitor.organization_id, monitor.account_id, fence, epoch, main.id as main_id, main.session_ref as main_ref,
    seen_mark, next_at, due_at, look_at, last_ok_at, failures, last_poll_error)
  select taken.*, (select min(${pressing}) from monitor where ${presses} and ${awaited}) as pressing
  from (values (1)) as one left join taken on true`

const others = taking("<> all")
const crowds = taking("= any")

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
  update monitor set urgent = true, look_at = case when $4 then $3 else look_at end, next_at = case
      when busy_until > $3 then $5
      else least(next_at, $5)
    end
  where organization_id = $1 and account_id = $2 and next_at is not null
  returning fence`

const unwatched = `
  select ref from unnest($1::text[], $2::uuid[], $3::text[]) as open (organization_id, account_id, ref)
  where not exists (
    select from monitor join service_session as own on own.organization_id = monitor.organization_id
      and own.account_id = monitor.account_id and own.slot <> 'retired'
    where monitor.organization_id = open.organization_id and monitor.account_id = open.account_id
      and next_at is not null and session_ref = ref)`

/** The monitors' rows, read and written outside any organization. */
export const layer = Layer.effect(
  Monitors,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const random = yield* SecureRandom.SecureRandom

    const take = Effect.fnUntraced(function*({ crowded, each, free }: Wanted) {
      const now = yield* Clock.currentTimeMillis
      const by = yield* random.uuidV7()
      const until = new Date(now + Duration.toMillis(guardHeld))
      const round = (which: string, most: number) =>
        Effect.map(
          Tenant.ask<Row>(sql, which, [new Date(now), most, by, until, crowded]),
          taken
        )
      const most = Math.min(each, free)
      const first = yield* round(others, most)
      if (crowded.length === 0 || first.accounts.length === most) return first
      const { accounts, pressing } = yield* round(crowds, free - first.accounts.length)
      return { accounts: [...first.accounts, ...accounts], pressing }
    })

    return {
      claim: take,

      finish: Effect.fnUntraced(function*(looks) {
        if (looks.length === 0) return
        const now = new Date(yield* Clock.currentTimeMillis)
        yield* Tenant.ask(sql, finished, [
          now,
          looks.map(({ organizationId }) => organizationId),
          looks.map(({ accountId }) => accountId),
          looks.map(({ fence }) => fence),
          looks.map(({ epoch }) => epoch),
          looks.map(({ next_at }) => next_at)
        ])
      }),

      nextDue: Effect.map(
        Tenant.ask<{ next_at: Date | null }>(
          sql,
          `select least((select min(next_at) from monitor where next_at is not null and not urgent),
            (select min(${pressing}) from monitor where ${presses})) as next_at`,
          []
        ),
        ([row]) => row?.next_at ?? null
      ),

      push: Effect.fnUntraced(function*({ accountId, organizationId }, { at, look }) {
        const now = new Date(yield* Clock.currentTimeMillis)
        yield* Tenant.ask(sql, pushed, [organizationId, accountId, now, look, at])
      }),

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
