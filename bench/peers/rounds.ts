/** The servers in turn, workload by workload, round by round. */
import type { Load, Measured } from "./measure.ts"
import type { Server } from "./processes.ts"
import { workload, type WorkloadName } from "./workloads.ts"

export const serverNames = ["ours", "peer", "floor", "embedded"] as const
export type ServerName = typeof serverNames[number]

export interface Run {
  readonly rounds: number
  readonly seconds: number
  readonly warmUp: number
  readonly connections: number
}

export interface Round extends Measured {
  readonly workload: WorkloadName
  readonly server: ServerName
}

/** A server that takes part, and the process that asks it. */
export interface Taking {
  readonly server: Server
  readonly load: Load
}

export type Field = Readonly<Partial<Record<ServerName, Taking>>>

/** Who answers the workload. */
const answers = (server: ServerName, name: WorkloadName): boolean => {
  const { floor = false, variant = false } = workload(name)
  return server === "ours" || (server === "floor" ? floor : !variant)
}

export const runRounds = async (
  field: Field,
  names: ReadonlyArray<WorkloadName>,
  { connections, rounds: count, seconds, warmUp: warmUpSeconds }: Run
): Promise<ReadonlyArray<Round>> => {
  const rounds: Array<Round> = []
  let slot = 1
  const measure = async (number: number, name: WorkloadName, as: ServerName, { load, server }: Taking) => {
    const once = () =>
      load.measure(server, {
        workload: name,
        address: server.address,
        connections,
        warmUpSeconds,
        seconds,
        slot: slot++,
        alone: as === "floor"
      })
    // A machine that is busy with something else may let a request time out.
    const measured = await once().catch((cause: unknown) => {
      process.stderr.write(`round ${number + 1}, ${name}, ${as}, once more: ${String(cause)}\n`)
      return once()
    })
    rounds.push({ workload: name, server: as, ...measured })
    const { cpu, databaseCpu, memory, throughput } = measured
    process.stderr.write(
      `round ${number + 1}, ${name}, ${as}: ${throughput.toFixed(0)}/s, ${cpu.toFixed(3)} ms CPU, database ${
        databaseCpu.toFixed(3)
      }, ${memory.toFixed(0)} MiB\n`
    )
  }
  for (let number = 0; number < count; number++) {
    for (const name of names) {
      const all = serverNames.flatMap((server) => {
        const taking = field[server]
        return taking !== undefined && answers(server, name) ? [[server, taking] as const] : []
      })
      // Each round begins with another server.
      const first = number % all.length
      for (const [as, taking] of [...all.slice(first), ...all.slice(0, first)]) await measure(number, name, as, taking)
    }
  }
  return rounds
}

/** The rounds of one server on one workload, in their order. */
export const select = (rounds: ReadonlyArray<Round>, name: WorkloadName, server: ServerName): ReadonlyArray<Round> =>
  rounds.filter((round) => round.workload === name && round.server === server)

/** What the service came to over what the other did, round by round. */
export const ratios = (
  rounds: ReadonlyArray<Round>,
  name: WorkloadName,
  other: "peer" | "floor",
  member: keyof Measured
): ReadonlyArray<number> => {
  const theirs = select(rounds, name, other)
  return select(rounds, name, "ours").map((ours, index) => ours[member] / (theirs[index]?.[member] ?? Number.NaN))
}
