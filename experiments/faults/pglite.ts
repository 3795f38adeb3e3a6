/** The service on the embedded database is killed in the middle of writes, and opened again. */
import * as Clients from "./clients.ts"
import { answers, type Fault, onlyTold, spread, unmet } from "./fault.ts"
import { type Attempt, judge } from "./ledger.ts"
import { onDirectory, pause } from "./stage.ts"

const writers = 4

export const pglite: Fault = async ({ rounds = 50 }) => {
  const stage = await onDirectory(rounds * writers)
  try {
    const attempts: Array<Attempt> = []
    const times: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      const started = performance.now()
      const service = await stage.serve()
      await Clients.recovered(stage, service.address)
      times.push(performance.now() - started)
      const clients = Clients.start(stage, {
        name: `p${round}`,
        accounts: stage.plain.slice(round * writers, (round + 1) * writers),
        address: () => service.address,
        attempts
      })
      await clients.more(15)
      await pause(Math.random() * 200)
      const stopped = clients.stop()
      await service.stop("SIGKILL")
      await stopped
    }
    return {
      done: `The process with the embedded database killed during writes and started again, ${rounds} rounds`,
      verdict: judge(attempts, await stage.settle()),
      seen: `${answers(attempts)}; from start to the first answer: ${spread(times)}`,
      failed: unmet(onlyTold(attempts))
    }
  } finally {
    await stage.remove()
  }
}
