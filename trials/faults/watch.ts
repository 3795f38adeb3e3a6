/**
 * The process that watches the accounts, or PostgreSQL, is killed while strangers are found and signed out, by a messenger
 * that is away, asks to wait, or does what it is asked while its answer is lost.
 */
import { type Fault, spread, unmet } from "./fault.ts"
import { judge } from "./ledger.ts"
import { onPostgres, pause, type PostgresStage, type Query } from "./stage.ts"

/** The service has been in the accounts for days, so that the platform lets it sign others out. */
const aged = [
  "update simulated_authorization set created_at = now() - interval '5 days', signed_in_at = now() - interval '5 days'",
  "update service_session set created_at = now() - interval '5 days'",
  `update account set connected_at = now() - interval '5 days', enforcement_active_at = now() - interval '4 days'
  where session_ref is not null`
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
const answers = (query: Query, operation: string, answer: object, times: number) =>
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
const longest = 75_000

/** Waits until the count is as wanted; answers how long that took. */
export const until = async (stage: PostgresStage, statement: string, wanted: number): Promise<number | undefined> => {
  for (const start = performance.now(); performance.now() - start < longest; await pause(500)) {
    const [row] = await stage.within((query) => query<{ count: number }>(statement))
    if (row?.count === wanted) return performance.now() - start
    await stage.within((query) => query("update monitor set next_at = least(next_at, now()) where next_at is not null"))
  }
}

interface Ended {
  readonly actor: string
  readonly reason: string | null
  readonly count: number
}

export const watch: Fault = async ({ rounds = 4 }) => {
  const stage = await onPostgres(1)
  try {
    const strangers = stage.live.length
    await stage.within(async (query) => {
      for (const statement of aged) await query(statement)
    })
    let service = await stage.serve()
    const late: Array<string> = []
    const times: Array<number> = []
    /** Kills the process or the database somewhere in the next half second. */
    const strike = async (turn: number) => {
      await pause(Math.random() * 500)
      if (turn % 2 === 0) {
        await service.stop("SIGKILL")
        service = await stage.serve()
      } else {
        await stage.server.kill()
        await stage.server.start()
      }
    }
    const phase = async (
      name: string,
      turn: number,
      begin: (query: Query) => Promise<unknown>,
      statement: string,
      wanted: number
    ) => {
      await stage.within(begin)
      await strike(turn)
      const time = await until(stage, statement, wanted)
      if (time === undefined) late.push(name)
      else times.push(time)
    }
    for (let round = 0; round < rounds; round++) {
      await phase(
        `round ${round}: found`,
        round,
        async (query) => {
          await comes(query, round)
          if (round % 2 === 1) await answers(query, "authorizations", { _tag: "Unavailable" }, 3 * strangers)
          await query(due)
        },
        "select count(*)::int as count from session where review_deadline is not null",
        strangers
      )
      await phase(
        `round ${round}: signed out`,
        round + Math.floor(round / 2),
        async (query) => {
          if (round % 2 === 1) await answers(query, "sign_out", { _tag: "Busy", seconds: 5 }, strangers)
          else await answers(query, "sign_out", { _tag: "Lost" }, strangers / 2)
          for (const statement of deadlines) await query(statement)
        },
        `select ((select count(*) from session where review_deadline is not null)
          + (select count(*) from simulated_authorization where session_ref is null))::int as count`,
        0
      )
    }
    await service.stop()
    const kept = await stage.settle()
    const ended = await stage.within((query) =>
      query<Ended>("select actor, reason, count(*)::int as count from termination group by 1, 2")
    )
    const done = (action: string) => kept.events.filter((event) => event.action === action && event.outcome === "done")
    const each = (action: string) => {
      const targets = done(action).map(({ account_id, target_id }) => `${account_id} ${target_id}`)
      return targets.length === rounds * strangers && new Set(targets).size === targets.length
    }
    return {
      done:
        `The process that watches, or PostgreSQL, killed while strangers are found and signed out, by a messenger that is away, asks to wait or loses its answers, ${rounds} rounds`,
      verdict: judge([], kept),
      seen: `${rounds * strangers} strangers; after the kill found or signed out: ${spread(times)}; ended: ${
        ended.map(({ actor, count, reason }) => `${actor} ${reason} × ${count}`).join(", ")
      }`,
      failed: unmet({
        [`nobody is late: ${late.join(", ")}`]: late.length === 0,
        "every stranger is told of once": each("session.detected"),
        "every stranger is signed out once": each("session.autokilled"),
        "every termination is the service's, of a deadline": ended.every(({ actor, count, reason }) =>
          actor === "service" && reason === "autokill" && count === rounds * strangers
        ),
        "no takeover is seen, and no session of the service is lost": ["takeover.detected", "protection.stopped"]
          .every((action) => done(action).length === 0)
      })
    }
  } finally {
    await stage.remove()
  }
}
