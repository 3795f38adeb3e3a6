/** Sessions of the service at PostgreSQL are ended at random while it writes. */
import * as Clients from "./clients.ts"
import { answers, type Fault, onlyTold, unmet } from "./fault.ts"
import { type Attempt, judge } from "./ledger.ts"
import { onPostgres, pause } from "./stage.ts"

const writers = 8

const terminate = `select pg_terminate_backend(pid) from (
  select pid from pg_stat_activity where usename = 'console' order by state = 'active' desc, random() limit 1
) victim`

export const backends: Fault = async ({ seconds = 20 }) => {
  const stage = await onPostgres(writers)
  try {
    const service = await stage.serve()
    const attempts: Array<Attempt> = []
    const clients = Clients.start(stage, {
      name: "t",
      accounts: stage.plain,
      address: () => service.address,
      attempts
    })
    const ended = await stage.within(async (query) => {
      let count = 0
      for (const end = Date.now() + seconds * 1000; Date.now() < end;) {
        count += (await query(terminate)).length
        await pause(Math.random() * 100)
      }
      return count
    })
    await Clients.recovered(stage, service.address)
    await clients.more(20)
    await clients.stop()
    await service.stop()
    return {
      done: `Sessions ended by pg_terminate_backend at random for ${seconds} s`,
      verdict: judge(attempts, await stage.settle()),
      seen: `${ended} sessions ended; ${answers(attempts)}`,
      failed: unmet({ ...onlyTold(attempts), "sessions were ended": ended > 0 })
    }
  } finally {
    await stage.remove()
  }
}
