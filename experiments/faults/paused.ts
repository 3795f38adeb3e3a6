/** Every process of PostgreSQL stands still while requests keep coming, and then goes on. */
import * as fs from "node:fs"
import * as Clients from "./clients.ts"
import { answers, type Fault, onlyTold, spread, unmet } from "./fault.ts"
import { type Attempt, judge } from "./ledger.ts"
import { onPostgres, pause } from "./stage.ts"

const writers = 8
/** Each waits for up to 11 s: together they stay below the 500 connections that one address may open. */
const readsPerSecond = 40

/** The deadline of a statement, a second of grace, and what a loaded machine adds. */
const longest = 13_000

/**
 * A change on the messenger meets the deadline twice: the simulated messenger keeps its state in the same database, so
 * that its call ends with a statement's deadline and the second that a COMMIT gets, before the outcome meets the same.
 */
const longestChange = longest + 11_000

const memory = (pid: number): number => {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8")) ?? []
  return Math.round(Number(kilobytes) / 1024)
}

export const paused: Fault = async ({ seconds = 30 }) => {
  const stage = await onPostgres(writers)
  try {
    const service = await stage.serve()
    const attempts: Array<Attempt> = []
    const clients = Clients.start(stage, {
      name: "f",
      accounts: stage.plain,
      address: () => service.address,
      attempts
    })
    await clients.more(300)
    const before = memory(service.pid)
    stage.server.freeze()
    const reads: Array<Promise<Clients.Answer>> = []
    let peak = before
    try {
      for (const end = Date.now() + seconds * 1000; Date.now() < end;) {
        reads.push(Clients.send(service.address, Clients.nextKey(stage), "GET", "/v1/organization"))
        peak = Math.max(peak, memory(service.pid))
        await pause(1000 / readsPerSecond)
      }
    } finally {
      stage.server.thaw()
    }
    const back = await Clients.recovered(stage, service.address)
    const read = await Promise.all(reads)
    await clients.more(20)
    await clients.stop()
    const refused = [...read, ...attempts].filter(({ status }) => status === 503)
    const slowest = (all: ReadonlyArray<{ readonly milliseconds: number }>) =>
      Math.round(Math.max(...all.map(({ milliseconds }) => milliseconds)))
    const changes = attempts.filter(({ kind }) => kind === "about")
    const others = [...read, ...attempts.filter(({ kind }) => kind !== "about")]
    const late = others.filter(({ status }) => status === 503)
    const after = memory(service.pid)
    await service.stop()
    return {
      done:
        `PostgreSQL stopped where it stood for ${seconds} s under ${writers} writers and ${readsPerSecond} reads a second`,
      verdict: judge(attempts, await stage.settle()),
      seen: `reads ${answers(read)}; writes ${answers(attempts)}; 503 after ${
        spread(refused.map(({ milliseconds }) => milliseconds))
      }; slowest answer ${slowest(others)} ms, of a change on the messenger ${slowest(changes)} ms; in service ${
        Math.round(back)
      } ms after it went on; memory of the service ${before} MiB before, ${peak} MiB at most, ${after} MiB after`,
      failed: unmet({
        ...onlyTold(attempts),
        "reads answer 200 or 503": read.every(({ status }) => status === 200 || status === 503),
        [`no 503 takes longer than ${longest} ms: ${slowest(late)}`]: slowest(late) <= longest,
        [`no change on the messenger takes longer than ${longestChange} ms: ${slowest(changes)}`]:
          slowest(changes) <= longestChange,
        "503 says when to try again": read.every(({ retryAfter, status }) => status !== 503 || retryAfter !== null),
        "memory grows by less than 300 MiB": peak - before < 300
      })
    }
  } finally {
    await stage.remove()
  }
}
