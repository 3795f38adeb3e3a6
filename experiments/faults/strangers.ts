/**
 * Strangers sign in to accounts that are watched; whatever breaks meanwhile, each is found once and signed out once.
 */
import { type Report, spread, unmet } from "./fault.ts"
import { judge, type Kept } from "./ledger.ts"
import { pause, type Query, type Stage } from "./stage.ts"

export type What = "found" | "signed out"

/** What breaks, and the processes that watch. */
export interface Trouble {
  readonly stage: Stage
  /** Reads and writes the database, whoever serves it. */
  readonly within: Stage["within"]
  /** Comes before the strangers do, or their deadlines. */
  readonly before?: (what: What, round: number) => Promise<void>
  /** Comes with them. */
  readonly during: (what: What, round: number) => Promise<void>
  /** Ends the processes. */
  readonly stop: () => Promise<unknown>
  /** How long there is between two questions; half a second by default. */
  readonly every?: number
}

/** The service has been in the accounts for days, so that the platform lets it sign others out. */
const aged = [
  "update simulated_authorization set created_at = now() - interval '5 days', signed_in_at = now() - interval '5 days'",
  "update service_session set created_at = now() - interval '5 days'",
  `update account set connected_at = now() - interval '5 days', enforcement_active_at = now() - interval '4 days'
  where session_ref is not null`
]

/** Nobody comes but the strangers of the experiment: those of the demo would be counted too. */
const alone = [
  `create function only_ours() returns trigger language plpgsql as $$
  begin
    return case when new.session_ref is null and new.device_model is distinct from 'Pixel 9' then null else new end;
  end $$`,
  `create trigger only_ours before insert on simulated_authorization for each row execute function only_ours()`
]

/** Somebody signs in to every account that is watched. */
const comes = (query: Query, round: number) =>
  query(
    `insert into simulated_authorization (id, user_id, device_model, app_name, created_at, last_active_at, signed_in_at)
    select (9000000000 + 1000 * $1::bigint + row_number() over (order by id))::text, messenger_user_id, 'Pixel 9',
      'Messenger', now(), now(), now()
    from account where session_ref is not null`,
    [round]
  )

/** The messenger answers the next calls so, whoever makes them. */
export const answers = (query: Query, operation: string | null, answer: object, times: number) =>
  query(
    `insert into simulated_script (number, operation, answer, remaining)
    select coalesce(max(number), 0) + 1, $1, $2, $3 from simulated_script`,
    [operation, JSON.stringify(answer), times]
  )

/** Nobody has to wait a minute for the next look. */
export const due = "update monitor set next_at = now(), urgent = true where next_at is not null"

/** Every deadline comes now rather than in twelve hours. */
export const deadlines = [
  "update session set review_deadline = now() where review_deadline is not null",
  "update monitor set due_at = now(), next_at = now(), urgent = true, epoch = epoch + 1 where next_at is not null"
]

/** How long a process may have held an account, and the lease on all of them, when it was killed, and as long again. */
const longest = 90_000

/** What is asked until it is as wanted, and how many rows that is. */
const ends = {
  found: ["select count(*)::int as count from session where review_deadline is not null", 1],
  "signed out": [
    `select ((select count(*) from session where review_deadline is not null)
      + (select count(*) from simulated_authorization where session_ref is null))::int as count`,
    0
  ]
} as const

/** Waits until the count is as wanted; answers how long that took. */
export const until = async (
  { every = 500, within }: Pick<Trouble, "every" | "within">,
  statement: string,
  wanted: number
): Promise<number | undefined> => {
  for (const start = performance.now(); performance.now() - start < longest; await pause(every)) {
    const count = await within(async (query) => {
      const [row] = await query<{ count: number }>(statement)
      if (row?.count !== wanted) {
        await query("update monitor set next_at = least(next_at, now()) where next_at is not null")
      }
      return row?.count
    })
    if (count === wanted) return performance.now() - start
  }
}

interface Ended {
  readonly actor: string
  readonly reason: string | null
  readonly count: number
}

interface Mailed {
  readonly kind: string
  readonly count: number
  readonly causes: number
}

/** What is mailed, once for each event and recipient. */
const mailed = ["session.detected", "session.autokilled", "monitoring.lost"]

/** Whether an action of the journal was mailed once for each of its events and recipients. */
export const isMailedOnce = async (stage: Stage, kept: Kept) => {
  const mails = await stage.within((query) =>
    query<Mailed>(
      "select kind, count(*)::int as count, count(distinct (cause, recipient))::int as causes from mail group by 1"
    )
  )
  const isMailed = (action: string) => {
    // What concerns many accounts at once has a kind of its own.
    const found = mails.filter(({ kind }) => kind.startsWith(action.replace(".", "_")))
    const events = kept.events.filter((event) => event.action === action && event.outcome === "done").length
    const sum = (of: "causes" | "count") => found.reduce((total, mail) => total + mail[of], 0)
    return sum("count") === events && sum("causes") === events
  }
  return Object.assign(isMailed, { mails })
}

/** Lets strangers come and their deadlines pass, so often, and says what became of them. */
export const strangersCome = async (trouble: Trouble, rounds: number, done: string): Promise<Report> => {
  const { stage, within } = trouble
  const strangers = stage.live.length
  const late: Array<string> = []
  const times: Array<number> = []
  const phase = async (what: What, round: number, begin: (query: Query) => Promise<unknown>) => {
    await trouble.before?.(what, round)
    await within(begin)
    await trouble.during(what, round)
    const [statement, each] = ends[what]
    const time = await until(trouble, statement, each * strangers)
    if (time === undefined) late.push(`round ${round}: ${what}`)
    else times.push(time)
  }
  await within(async (query) => {
    for (const statement of [...aged, ...alone]) await query(statement)
  })
  for (let round = 0; round < rounds; round++) {
    await phase("found", round, async (query) => {
      await comes(query, round)
      await query(due)
    })
    await phase("signed out", round, async (query) => {
      for (const statement of deadlines) await query(statement)
    })
  }
  // What is looked at once more is as it should be.
  await within((query) => query(due))
  await pause(5000)
  await trouble.stop()
  const kept = await stage.settle()
  const isMailed = await isMailedOnce(stage, kept)
  const { mails } = isMailed
  const { ended, unknown } = await stage.within(async (query) => ({
    ended: await query<Ended>("select actor, reason, count(*)::int as count from termination group by 1, 2"),
    unknown: await query("select from account where session_ref is not null and monitoring_state <> 'active'")
  }))
  const journaled = (action: string) =>
    kept.events.filter((event) => event.action === action && event.outcome === "done")
  const each = (action: string) => {
    const targets = journaled(action).map(({ account_id, target_id }) => `${account_id} ${target_id}`)
    return targets.length === rounds * strangers && new Set(targets).size === targets.length
  }
  const lost = journaled("monitoring.lost").length
  return {
    done: `${done}, ${rounds} rounds`,
    verdict: judge([], kept),
    seen: `${rounds * strangers} strangers; after the fault found or signed out: ${spread(times)}; ended: ${
      ended.map(({ actor, count, reason }) => `${actor} ${reason} × ${count}`).join(", ")
    }; mails: ${mails.map(({ count, kind }) => `${kind} × ${count}`).join(", ")}`,
    failed: unmet({
      [`nobody is late: ${late.join(", ")}`]: late.length === 0,
      "every stranger is told of once": each("session.detected"),
      "every stranger is signed out once": each("session.autokilled"),
      "every termination is the service's, of a deadline": ended.length === 1 &&
        ended.every((one) => one.actor === "service" && one.reason === "autokill" && one.count === rounds * strangers),
      "no takeover is seen, and no session of the service is lost": ["takeover.detected", "protection.stopped"]
        .every((action) => journaled(action).length === 0),
      [`one mail for each event: ${JSON.stringify(mails)}`]: mailed.every(isMailed),
      [`accounts that were unknown are known again: ${unknown.length}, ${lost} lost`]: unknown.length === 0 &&
        journaled("monitoring.restored").length === lost
    })
  }
}
