/** One replica of two is killed under load, again and again; its clients go on at the other. */
import type { Service } from "../../test/support/cli/commandProcess.ts"
import * as Clients from "./clients.ts"
import { answers, type Fault, onlyTold, unmet } from "./fault.ts"
import { type Attempt, judge } from "./ledger.ts"
import { script } from "./scripts.ts"
import { onPostgres, pause } from "./stage.ts"

const writers = 7

export const replica: Fault = async ({ rounds = 6 }) => {
  const stage = await onPostgres(rounds * writers)
  const open = () => stage.within(async (query) => (await query("select sequence from pending_change")).length)
  const openOf = (account: string) =>
    stage.within(async (query) =>
      (await query(
        "select sequence from pending_change join journal_event using (organization_id, sequence) where account_id = $1::uuid",
        [account]
      )).length
    )
  try {
    // The first one watches the accounts, and alone changes anything on the messenger.
    let watching = await stage.serve()
    const attempts: Array<Attempt> = []
    const hanging = stage.live.at(-1) ?? ""
    let second = await stage.serve()
    let reached: Service | undefined
    let left = 0
    for (let round = 0; round < rounds; round++) {
      const last = round === rounds - 1
      const [victim, steady] = last ? [watching, second] : [second, watching]
      reached = victim
      const clients = Clients.start(stage, {
        name: `k${round}`,
        accounts: stage.plain.slice(round * writers, (round + 1) * writers),
        address: (place) => (place % 2 === 0 ? reached : undefined)?.address ?? steady.address,
        attempts
      })
      await clients.more(80)
      if (last) {
        await script(stage, hanging, { _tag: "Silent" })
        // It is refused while the account is looked at, or another client changes it.
        let asking: Promise<number> | undefined
        for (const end = performance.now() + 60_000; await openOf(hanging) === 0; await pause(20)) {
          if (performance.now() > end) throw new Error("No change on the messenger was left without an answer")
          asking ??= Clients.write(stage, victim.address, "about", hanging, "never answered")
            .then((cut) => attempts.push(cut)).finally(() => asking = undefined)
        }
      }
      await pause(Math.random() * 200)
      reached = undefined
      await victim.stop("SIGKILL")
      left = await open()
      await clients.more(40)
      const next = await stage.serve()
      if (last) watching = next
      else second = next
      await clients.stop()
    }
    const started = performance.now()
    while (await open() > 0 && performance.now() - started < 90_000) await pause(500)
    const swept = Math.round((performance.now() - started) / 1000)
    const still = await open()
    await Promise.all([watching.stop(), second.stop()])
    return {
      done: `A replica of two killed under load, ${rounds} times`,
      verdict: judge(attempts, await stage.settle()),
      seen: `${
        answers(attempts)
      }; ${left} changes on the messenger left pending, closed by the other replica after ${swept} s`,
      failed: unmet({
        ...onlyTold(attempts),
        "a change on the messenger was left pending": left > 0,
        "the other replica closes what was pending within 90 s": still === 0
      })
    }
  } finally {
    await stage.remove()
  }
}
