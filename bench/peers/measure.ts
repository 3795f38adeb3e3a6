/** One server under load for a while, and what it and the database used. */
import * as childProcess from "node:child_process"
import type { Fixture } from "./fixture.ts"
import type { Answered, Message, Order, Said } from "./load.ts"
import { cpuOf, cpuOfFamily, memoryOf, type Server } from "./processes.ts"

/** What one slot of one server on one workload came to. */
export interface Measured {
  readonly requests: number
  readonly throughput: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Milliseconds of processor time a request. */
  readonly cpu: number
  readonly databaseCpu: number
  /** MiB at the end of the slot. */
  readonly memory: number
  /** Bytes of a whole answer. */
  readonly bytes: number
}

export interface Load {
  /** `begun` is called back when the warm-up is over. */
  readonly measure: (server: Server, order: Order, begun?: () => Promise<void>) => Promise<Measured>
  readonly stop: () => void
}

/** Starts the process that asks; `settled` brings the database to the same state, and the process is its server's. */
export const startLoad = async (
  fixture: Fixture,
  settled: () => Promise<void>,
  databasePid?: number
): Promise<Load> => {
  const child = childProcess.fork(new URL("load.ts", import.meta.url), { stdio: "inherit" })
  const heard = () =>
    new Promise<Said>((resolve, reject) => {
      const gone = () => reject(new Error("The load's process has ended"))
      child.once("exit", gone)
      child.once("message", (said: Said) => {
        child.off("exit", gone)
        resolve(said)
      })
    })
  const send = (message: Message) => child.send(message)
  const used = (server: Server) => ({
    server: cpuOf(server.pid),
    database: databasePid === undefined ? 0 : cpuOfFamily(databasePid)
  })
  send({ fixture })
  await heard()
  return {
    measure: async (server, order, begun) => {
      await settled()
      send(order)
      await heard()
      await begun?.()
      const before = used(server)
      const said = await heard()
      const after = used(server)
      const answered = (said as { readonly ended: Answered }).ended
      if (answered.failures > 0 || answered.requests === 0) {
        throw new Error(`${order.workload}: ${answered.failures} of ${answered.requests} requests failed`)
      }
      return {
        requests: answered.requests,
        throughput: answered.requests / answered.seconds,
        p50: answered.p50,
        p99: answered.p99,
        cpu: (after.server - before.server) / answered.requests,
        databaseCpu: (after.database - before.database) / answered.requests,
        memory: memoryOf(server.pid),
        bytes: answered.bytes
      }
    },
    stop: () => child.kill()
  }
}
