/** A second process on the directory of the embedded database, while the first one writes. */
import * as Command from "../../test/support/cli/commandProcess.ts"
import * as Clients from "./clients.ts"
import { answers, type Fault, onlyTold, spread, unmet } from "./fault.ts"
import { type Attempt, judge } from "./ledger.ts"
import { onDirectory } from "./stage.ts"

export const second: Fault = async ({ rounds = 5 }) => {
  const stage = await onDirectory(2)
  try {
    const service = await stage.serve()
    const attempts: Array<Attempt> = []
    const clients = Clients.start(stage, {
      name: "s",
      accounts: stage.plain,
      address: () => service.address,
      attempts
    })
    const times: Array<number> = []
    const refusals: Array<boolean> = []
    for (let round = 0; round < rounds; round++) {
      await clients.more(10)
      const started = performance.now()
      const { status, stderr, stdout } = await Command.run(["serve", "--port", "0"], { env: stage.env })
      times.push(performance.now() - started)
      refusals.push(
        status === 1 && !stdout.includes("Listening") && stderr.includes(`in use by process ${service.pid}`)
      )
    }
    await clients.more(10)
    await clients.stop()
    await service.stop()
    return {
      done: `A second process started on the directory of the embedded database, ${rounds} times`,
      verdict: judge(attempts, await stage.settle()),
      seen: `refused with a line that names the first process: ${spread(times)} from its start; ${answers(attempts)}`,
      failed: unmet({ ...onlyTold(attempts), "the second process is refused": refusals.every((refused) => refused) })
    }
  } finally {
    await stage.remove()
  }
}
