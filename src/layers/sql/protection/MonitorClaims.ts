/** Takes the accounts that are due: at a cost that depends on how many are taken, not on how many are late. */
import { Clock, Duration, Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { AccountId } from "../../../domain/accounts/Account.ts"
import type { Slot } from "../../../domain/accounts/Slot.ts"
import type { ServiceUnavailable } from "../../../domain/Failure.ts"
import { guardHeld } from "../../../domain/Limits.ts"
import { SessionRef } from "../../../domain/messenger/Messenger.ts"
import { OrganizationId } from "../../../domain/people/Access.ts"
import type { ClaimedAccount, ClaimLimits, ClaimResult } from "../../../ports/protection/Monitors.ts"
import * as Tenant from "../../postgres/Tenant.ts"
import * as Slots from "./Slots.ts"

/** The number of organizations that are known to wait behind one that has enough places, and the time, in ms. */
const mostWaiting = 256
const waitingKnown = 1000

/**
 * When an account presses: an operation, a push or a deadline waits for it. A poll that is late holds no deadline back,
 * and nothing is due while the messenger has asked to wait.
 */
export const pressing =
  `(case when urgent then greatest(next_at, flood_until) else greatest(next_at, due_at, flood_until) end)`
export const presses = "next_at is not null and (urgent or due_at is not null)"

/** The time that an account is to be polled. */
export const poll = "(greatest(next_at, flood_until))"
export const polls = "next_at is not null and not urgent"

export const unheld = "(busy_until is null or busy_until <= $1)"

/**
 * Those that press, and those that are to be polled; `class` is 0 where the account presses, also among the latter.
 * `mine` is the condition on their slots.
 */
const pressed = (mine: string) => (and: string) => `
  select organization_id, account_id, 0 as class, ${pressing} as at from monitor
  where ${and} ${mine} ${presses} and ${pressing} <= $1 and ${unheld} order by ${pressing}`
const polled = (mine: string) => (and: string) => `
  select organization_id, account_id, case when due_at <= $1 then 0 else 1 end as class, ${poll} as at from monitor
  where ${and} ${mine} ${polls} and ${poll} <= $1 and ${unheld} order by ${poll}`

/** The condition that an account is in one of the slots, which are the value of that number. */
const mine = (slots: ReadonlySet<Slot>, value: number) => {
  const condition = Slots.filter(slots, "slot", value)
  return condition === "" ? "" : `${condition} and`
}

/** The first of each organization that is known to wait, as many as are wanted at all. */
const waiting = (those: (and: string) => string) => `
  select own.* from unnest($9::text[]) as waiting (id)
  cross join lateral (${those("organization_id = waiting.id and")} limit $8) as own`

/**
 * Takes those that are due and that nobody holds, skipping what another process is taking: of each organization as many
 * as it has room for, polls last; and then of any, where it is known that nobody else waits. For that it reads the head
 * of what is due, which is not `whole` where more is.
 *
 * What becomes urgent while an account is held came after the claim. Values: now, how many, by whom, until when, how
 * much is read, the organizations that have less room and how much, the room of the others, those that are known to
 * wait, whether these are all, and the slots, unless they are all.
 */
const taking = (mine: string) => `
  with pressed as materialized (${pressed(mine)("")} limit $5),
  polled as materialized (${polled(mine)("")} limit $5),
  head as materialized (
    select (select count(*) from pressed) < $5 and (select count(*) from polled) < $5 as whole
  ), pressing as materialized (${waiting(pressed(mine))} limit $2),
  polling as materialized (
    ${waiting(polled(mine))} where class = 1 limit greatest($2 - (select count(*) from pressing), 0)
  ), seen as (
    select * from pressed union select * from polled where class = 1 union select * from pressing union select * from polling
  ), ranked as (
    select seen.*, row_number() over (partition by seen.organization_id order by class, at) <= coalesce(room, $8) as fair
    from seen left join unnest($6::text[], $7::int[]) as known (id, room) on known.id = seen.organization_id
  ), chosen as materialized (
    select organization_id, account_id, row_number() over (order by fair desc, class, at) as place from ranked
    where fair or $10 or (select whole from head) order by fair desc, class, at limit $2
  ), due as (
    select monitor.organization_id, monitor.account_id, place from chosen
    join monitor on monitor.organization_id = chosen.organization_id and monitor.account_id = chosen.account_id
    where ${poll} <= $1 and ${unheld} for no key update of monitor skip locked
  ), taken as (
    update monitor set busy_by = $3, busy_until = $4, fence = fence + 1, urgent = false
    from due left join service_session as main on main.organization_id = due.organization_id
      and main.account_id = due.account_id and main.slot = 'main'
    where monitor.organization_id = due.organization_id and monitor.account_id = due.account_id
    returning place, monitor.organization_id, monitor.account_id, fence, epoch, main.id as main_id,
      main.session_ref as main_ref, seen_mark, next_at, due_at, look_at, last_ok_at, failures, last_poll_error
  )
  select taken.*, whole, (select ${pressing} from monitor where ${mine} ${presses} order by ${pressing} limit 1) as pressing
  from head left join taken on true order by place`

/** The first due time in an organization, from one organization to the next. */
const firsts = (name: string, mine: string, which: string, at: string) => {
  const first = (and: string) => `
    select organization_id, ${at} as at from monitor where ${mine} ${which} ${and} order by organization_id, ${at} limit 1`
  return `${name} as (
    (${first("")}) union all
    select next.* from ${name} cross join lateral (${first(`and organization_id > ${name}.organization_id`)}) as next
  )`
}

/** The organizations for which something is due, those first that have waited longest; not those that have no room. */
const asking = (mine: string) => `
  with recursive ${firsts("polls", mine, polls, poll)}, ${firsts("pressings", mine, presses, pressing)}
  select organization_id as id from (select * from polls union all select * from pressings) as due
  where at <= $1 and organization_id <> all($2::text[]) group by organization_id order by min(at) limit $3`

interface Row extends Omit<ClaimedAccount, "accountId" | "main" | "organizationId"> {
  readonly whole: boolean
  readonly pressing: Date | null
  /** Null where no account was taken. */
  readonly organization_id: string | null
  readonly account_id: string
  readonly main_id: string | null
  readonly main_ref: string | null
}

const claimed = (
  { account_id, main_id, main_ref, organization_id, pressing: _, whole: __, ...row }: Row
): ReadonlyArray<ClaimedAccount> =>
  organization_id === null ? [] : [{
    ...row,
    organizationId: OrganizationId.make(organization_id),
    accountId: AccountId.make(account_id),
    main: main_id === null || main_ref === null ? null : { id: main_id, session_ref: SessionRef.make(main_ref) }
  }]

/** A process's knowledge of the organizations that wait. */
interface WaitingOrganizations {
  readonly waiting: ReadonlyArray<string>
  readonly until: number
}

/** Takes the accounts that are due. */
export const make = (sql: SqlClient.SqlClient, random: SecureRandom.SecureRandom["Service"]) => {
  let known: WaitingOrganizations | null = null

  const round = Effect.fnUntraced(
    function*({ free, room, rooms, slots }: ClaimLimits, now: number, others: WaitingOrganizations | null) {
      const [row, ...rows] = yield* Tenant.askInOrder<Row>(sql, taking(mine(slots, 11)), [
        new Date(now),
        free,
        yield* random.uuidV7(),
        new Date(now + Duration.toMillis(guardHeld)),
        rooms.size === 0 ? free : 2 * free,
        [...rooms.keys()],
        [...rooms.values()],
        room,
        others?.waiting ?? [],
        others !== null,
        ...Slots.values(slots)
      ])
      const all = row === undefined ? [] : [row, ...rows]
      return { accounts: all.flatMap(claimed), pressing: row?.pressing ?? null, whole: row?.whole ?? true }
    }
  )

  return Effect.fnUntraced(
    function*({ free, room, rooms, slots }: ClaimLimits): Effect.fn.Return<ClaimResult, ServiceUnavailable> {
      const now = yield* Clock.currentTimeMillis
      const before = known !== null && now < known.until ? known : null
      const first = yield* round({ slots, free, room, rooms }, now, before)
      if (first.whole || before !== null || first.accounts.length === free) return first
      const left = new Map(rooms)
      for (const { organizationId } of first.accounts) left.set(organizationId, (left.get(organizationId) ?? room) - 1)
      const full = [...left].flatMap(([id, room]) => room <= 0 ? [id] : [])
      const waiting = yield* Tenant.askInOrder<{ id: string }>(sql, asking(mine(slots, 4)), [
        new Date(now),
        full,
        mostWaiting,
        ...Slots.values(slots)
      ])
      known = { waiting: waiting.map(({ id }) => id), until: now + waitingKnown }
      const rest = yield* round({ slots, free: free - first.accounts.length, room, rooms: left }, now, known)
      return { accounts: [...first.accounts, ...rest.accounts], pressing: rest.pressing }
    }
  )
}
