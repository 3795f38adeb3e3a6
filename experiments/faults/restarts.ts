/** PostgreSQL is killed, every process of it at once, in the middle of writes, and started again. */
import * as Clients from "./clients.ts"
import { answers, type Fault, onlyTold, spread, unmet } from "./fault.ts"
import { type Attempt, judge } from "./ledger.ts"
import { onPostgres, pause } from "./stage.ts"

const writers = 6

export const restarts: Fault = async ({ rounds = 20 }) => {
  const stage = await onPostgres(rounds * writers)
  try {
    const service = await stage.serve()
    const attempts: Array<Attempt> = []
    const times: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      const clients = Clients.start(stage, {
        name: `r${round}`,
        accounts: stage.plain.slice(round * writers, (round + 1) * writers),
        address: () => service.address,
        attempts
      })
      await clients.more(30)
      await pause(Math.random() * 300)
      await stage.server.kill()
      await pause(200)
      await stage.server.start()
      times.push(await Clients.recovered(stage, service.address))
      await clients.more(5)
      await clients.stop()
    }
    await service.stop()
    return {
      done: `PostgreSQL killed during writes and started again, ${rounds} rounds`,
      verdict: judge(attempts, await stage.settle()),
      seen: `${answers(attempts)}; in service again after PostgreSQL's start: ${spread(times)}`,
      failed: unmet(onlyTold(attempts))
    }
  } finally {
    await stage.remove()
  }
}
