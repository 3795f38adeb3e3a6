/** What must hold of what the service has written down, by what happened in truth: the invariants of the watch. */
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AuthorizationId, SessionRef } from "../../../../src/domain/messenger/Messenger.ts"
import { SimulatedPlatform } from "../../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { verify } from "../../../../src/layers/sql/journal/JournalChain.ts"
import { Secrets } from "../../../../src/ports/security/Secrets.ts"
import * as Fixtures from "../../fixtures.ts"
import * as World from "../../world.ts"
import { type Alive, type Ledger, periodOf, type Row, statusOf, type Stored } from "./ledger.ts"

const hour = 3_600_000

/** What a round is about, and what it has found. */
export interface Round {
  readonly organization: World.Organization
  readonly ledgers: ReadonlyArray<Ledger>
  readonly findings: Array<string>
}

const ownOf = ({ id }: World.Organization) =>
  World.query<Stored>(id, (sql) =>
    sql`
      select account.id, offboarded_at, paused_at, resumed_at, stopped_at, connected_at, monitoring_state,
        takeover_stopped_at, enforcement_active_at, last_ok_at, last_polled_at, last_poll_error, failures, flood_until,
        busy_until, sign_out_retry_at
      from account join monitor on monitor.organization_id = account.organization_id and monitor.account_id = account.id
      where account.organization_id = ${id}`)

const rowsOf = ({ id }: World.Organization) =>
  World.query<Row>(id, (sql) =>
    sql`
      select account_id, id, service, baseline, approved_at, review_deadline, ending_reason from session
      where organization_id = ${id}`)

const aliveOf = (ledgers: ReadonlyArray<Ledger>) =>
  SqlClient.SqlClient.use((sql) =>
    Effect.orDie(sql<Alive>`
      select user_id, id, session_ref is not null as own, password_pending from simulated_authorization
      where user_id = any(${ledgers.map(({ userId }) => userId)}::text[])`)
  )

/** I2: what must hold at the moment at which a sign-out is sent, by whomever. */
export const whenSent = Effect.fnUntraced(
  function*(round: Round, ledger: Ledger, ref: SessionRef, id: AuthorizationId) {
    const now = yield* Clock.currentTimeMillis
    const { organization: { id: organization } } = round
    const find = (text: string) =>
      round.findings.push(`I2: ${ledger.account} ${id} at ${new Date(now).toISOString()}: ${text}`)
    const [row] = yield* World.query<{
      paused_at: Date | null
      offboarded_at: Date | null
      stopped_at: Date | null
      approved_at: Date | null
      ending_at: Date | null
      ending_reason: string | null
      oldest: Date | null
      open: boolean
    }>(organization, (sql) =>
      sql`
      select paused_at, offboarded_at, stopped_at, approved_at, ending_at, ending_reason,
        (select min(created_at) from service_session where service_session.organization_id = account.organization_id
          and service_session.account_id = account.id and slot in ('main', 'paired')) as oldest,
        exists (select from pending_change where pending_change.organization_id = account.organization_id
          and sequence = ending_intent) as open
      from account left join session on session.organization_id = account.organization_id
        and session.account_id = account.id and session.id = ${id}
      where account.organization_id = ${organization} and account.id = ${ledger.account}`)
    const [own] = yield* SqlClient.SqlClient.use((sql) =>
      Effect.orDie(sql`
      select 1 from simulated_authorization
      where user_id = ${ledger.userId} and session_ref is not null and (id = ${id} or session_ref = ${ref} and ${id} = '0')`)
    )
    if (own !== undefined) find("an own session")
    if (row === undefined) return void find("no account")
    const { approved_at, ending_at, ending_reason, oldest, open } = row
    if (row.paused_at !== null) find("paused")
    if (row.offboarded_at !== null) find("offboarded")
    if (row.stopped_at !== null) find("stopped")
    if (ending_reason === null || !open) find(`no open intent, ${ending_reason}`)
    if (approved_at !== null && (ending_at === null || ending_at <= approved_at)) find("approved before")
    if (approved_at !== null && (ending_reason === "autokill" || ending_reason === "lock")) {
      find("approved, and its deadline passed all the same")
    }
    if (oldest === null || now < oldest.getTime() + 24 * hour) find("before the messenger lets the service")
    ledger.sent.add(id)
  }
)

/** I10: whether an account that is watched was not looked at for two periods, though the messenger asks for no wait. */
const late = (ledger: Ledger, account: Stored, now: number): boolean => {
  const watched = account.paused_at === null && account.stopped_at === null && account.offboarded_at === null
  ledger.watchedSince = watched ? ledger.watchedSince ?? now : null
  // Whoever dies holds the account for a while.
  if (account.busy_until !== null) ledger.heldAt = now
  const since = Math.max(
    ledger.watchedSince ?? now,
    ledger.heldAt,
    account.last_polled_at?.getTime() ?? 0,
    account.flood_until?.getTime() ?? 0
  )
  return now - since > 2 * periodOf(account)
}

/**
 * I1, I8 and I10, after each run: of an account that was just looked at in peace, no stranger is past what is allowed.
 */
export const whenSeen = Effect.fnUntraced(function*(round: Round) {
  const now = yield* Clock.currentTimeMillis
  const stored = new Map((yield* ownOf(round.organization)).map((account) => [account.id, account]))
  const rows = Map.groupBy(yield* rowsOf(round.organization), ({ account_id }) => account_id)
  const alive = Map.groupBy(yield* aliveOf(round.ledgers), ({ user_id }) => user_id)
  for (const ledger of round.ledgers) {
    const find = (text: string) => round.findings.push(`${text}: ${ledger.account} at ${new Date(now).toISOString()}`)
    const account = stored.get(ledger.account)
    const mine = new Map((rows.get(ledger.account) ?? []).map((row) => [row.id, row]))
    for (const device of ledger.devices.values()) device.seen ||= mine.has(device.id)
    if (account === undefined) {
      find("no account")
      continue
    }
    if (late(ledger, account, now)) find("I10: it was not looked at for two periods")
    const enforced = account.enforcement_active_at !== null && account.enforcement_active_at.getTime() <= now
    const waits = account.sign_out_retry_at !== null && account.sign_out_retry_at.getTime() > now
    if (
      account.paused_at !== null || account.stopped_at !== null || account.offboarded_at !== null ||
      account.last_ok_at?.getTime() !== now || account.busy_until !== null || !enforced || waits ||
      ledger.disturbedAt === now
    ) continue
    for (const { id, own, password_pending } of alive.get(ledger.userId) ?? []) {
      if (own || password_pending) continue
      const device = ledger.devices.get(id)
      const row = mine.get(id)
      // Who signs in after the look of this moment is seen by the next one.
      if (device === undefined || device.signedInAt === now) continue
      if (row === undefined) {
        find(`a session that is not written down, ${id}`)
        continue
      }
      if (row.baseline !== device.before) find(`I1: ${id} counts as there before the service, or not`)
      if (row.service) find(`I2: ${id} counts as the service's own`)
      if (row.approved_at !== null || row.baseline) continue
      if (row.review_deadline === null || row.review_deadline.getTime() <= now) find(`I1: ${id} outlives its deadline`)
      if (now >= device.signedInAt + 23 * hour) find(`I8: ${id} lives past 23 hours`)
    }
  }
})

/** I6: the status is the same to the rules, in the list and to its filter. */
export const statuses = Effect.fnUntraced(function*({ findings, organization }: Round) {
  const now = yield* Clock.currentTimeMillis
  const rows = Map.groupBy(yield* rowsOf(organization), ({ account_id }) => account_id)
  const { key } = organization.admins.superadmin
  const listed = (query: string) =>
    Effect.map(
      World.get(`/v1/accounts?limit=100${query}`, key),
      ({ body }) =>
        new Map<string, string>(body.data.map((each: { id: string; status: string }) => [each.id, each.status]))
    )
  const all = yield* listed("")
  const expected = (yield* ownOf(organization)).map((account) =>
    [account.id, statusOf(account, rows.get(account.id) ?? [], now)] as const
  )
  for (const [id, status] of expected) {
    if (all.get(id) !== status) findings.push(`I6: ${id} is ${status}, and listed as ${all.get(id)}`)
  }
  for (const status of new Set(expected.map(([, each]) => each))) {
    const found = [...(yield* listed(`&status=${status}`)).keys()].toSorted()
    const wanted = expected.flatMap(([id, each]) => each === status ? [id] : []).toSorted()
    if (found.join() !== wanted.join()) {
      findings.push(`I6: the filter finds ${found.join()} as ${status}, not ${wanted.join()}`)
    }
  }
})

/** The kinds of mail that each event of the action causes. */
const mailed = [
  "session.detected",
  "session.autokilled",
  "outside_change.detected",
  "login.attempted",
  "takeover.detected",
  "takeover.stopped",
  "monitoring.lost",
  "protection.stopped",
  "two_fa.lost"
]

const signedOut = ["session.autokilled", "session.signed_out"]

/** I3, I4, I5, I7 and I9, when all is over. */
export const whenOver = Effect.fnUntraced(function*(round: Round) {
  const { findings, ledgers, organization: { id } } = round
  const platform = yield* SimulatedPlatform
  const secrets = yield* Secrets
  const events = yield* World.journal(id)
  const chain = yield* Fixtures.within(id, verify(id))
  if (!chain.ok) findings.push("I4: the chain is broken")
  const closes = events.flatMap(({ closes }) => closes ?? [])
  if (new Set(closes).size !== closes.length) findings.push("I4: an intent is closed twice")
  const closed = new Set(closes)
  for (const { action, outcome, sequence } of events) {
    if (outcome === "pending" && !closed.has(sequence)) findings.push(`I4: ${sequence}, ${action}, is left open`)
  }
  const mails = yield* World.query<{ kind: string; recipient: string; count: number }>(
    id,
    (sql) => sql`select kind, recipient, count(*)::int as count from mail where organization_id = ${id} group by 1, 2`
  )
  const recipients = [...new Set(mails.map(({ recipient }) => recipient))]
  for (const action of mailed) {
    const caused = events.filter((event) => event.action === action && event.outcome === "done").length
    for (const recipient of recipients) {
      const found = mails.filter((mail) =>
        mail.recipient === recipient && mail.kind.startsWith(action.replace(".", "_"))
      )
        .reduce((sum, { count }) => sum + count, 0)
      if (found !== caused) findings.push(`I7: ${caused} of ${action}, and ${found} mails to ${recipient}`)
    }
  }
  if (events.length > 0 && recipients.length !== 2 && mails.length > 0) findings.push("I7: not everybody is mailed")
  if (events.some(({ details }) => details["error"] === "key_duplicated")) findings.push("I9: a key is used twice")
  const alive = Map.groupBy(yield* aliveOf(ledgers), ({ user_id }) => user_id)
  const stored = new Map((yield* ownOf(round.organization)).map((account) => [account.id, account]))
  const terminations = yield* World.query<
    { account_id: string; session_id: string; actor: string; reason: string | null }
  >(
    id,
    (sql) => sql`select account_id, session_id, actor, reason from termination where organization_id = ${id}`
  )
  for (const ledger of ledgers) {
    const mine = events.filter(({ account_id }) => account_id === ledger.account)
    const find = (text: string) => findings.push(`${text}: ${ledger.account}`)
    const lives = new Set((alive.get(ledger.userId) ?? []).map((one) => one.id))
    const account = stored.get(ledger.account)
    const looksOn = account?.paused_at === null && account.stopped_at === null && account.offboarded_at === null &&
      account.monitoring_state === "active"
    for (const device of ledger.devices.values()) {
      const journaled = mine.filter(({ action, target_id }) =>
        action === "session.detected" && target_id === device.id
      ).length
      if (journaled > 1 || journaled === 0 && device.seen && !device.before) {
        find(`I3: ${device.id} is told of ${journaled} times`)
      }
      const over = terminations.filter((one) => one.account_id === ledger.account && one.session_id === device.id)
      if (over.length > 1) find(`I3: ${device.id} has ${over.length} terminations`)
      const [termination] = over
      if (termination !== undefined && lives.has(device.id)) find(`I3: ${device.id} lives, and has a termination`)
      const ours = !lives.has(device.id) && !device.ended
      const done = mine.filter((event) =>
        event.outcome === "done" && signedOut.includes(event.action) && event.target_id === device.id
      ).length
      if (done > 1) find(`I3: ${device.id} is told to be signed out ${done} times`)
      if (ledger.offboarded || termination === undefined) {
        const known = device.seen && !lives.has(device.id) && looksOn
        if (known && !ledger.offboarded) find(`I3: ${device.id} has gone, and has no termination`)
        continue
      }
      if (ours && termination.actor !== "service") {
        find(`I3: ${device.id} was signed out by us, not ${termination.actor}`)
      }
      const may = ledger.sent.has(device.id) ||
        mine.some(({ action, outcome, target_id }) =>
          outcome === "pending" && (target_id === device.id || action === "sessions.signed_out")
        )
      if (!ours && termination.actor === "service" && !may) find(`I3: ${device.id} was never signed out by us`)
      if (ours && done === 0 && !mine.some(({ action }) => action === "sessions.signed_out")) {
        find(`I4: ${device.id} was signed out, and no event says that it was done`)
      }
      const { reason } = termination
      if (reason === "rejected" && !ledger.asked.has("sign-out") && !ledger.asked.has("sign-out-others")) {
        find(`I3: nobody rejected ${device.id}`)
      }
      if (reason === "hijacked" && !mine.some(({ action }) => action === "takeover.detected")) {
        find(`I3: ${device.id} was signed out of no takeover`)
      }
    }
    const candidates = yield* secrets.candidates({ organizationId: id, accountId: ledger.account })
    const [person] = yield* SqlClient.SqlClient.use((sql) =>
      Effect.orDie(sql<{ set: boolean }>`
        select two_fa_digest is not null as set from simulated_account where user_id = ${ledger.userId}`)
    )
    if (!ledger.theirs && !ledger.offboarded && person?.set === true) {
      const takes = yield* Effect.forEach(
        candidates.passwords,
        ({ password }) => platform.isPassword(ledger.userId, password)
      )
      if (!takes.includes(true)) find("I5: none of the passwords that are held is the account's")
    }
  }
})
