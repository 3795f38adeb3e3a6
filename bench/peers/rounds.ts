/** The servers in turn, workload by workload, round by round. */
import type { Load, Measured } from "./measure.ts"
import type { Server } from "./processes.ts"
import { workload, type WorkloadName } from "./workloads.ts"

export const serverNames = ["ours", "peer", "floor"] as const
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

/** Who answers the workload. */
const answering = (name: WorkloadName): ReadonlyArray<ServerName> => {
  const { floor = false, variant = false } = workload(name)
  return serverNames.filter((server) => server === "ours" || (server === "peer" ? !variant : floor))
}

export const runRounds = async (
  servers: Readonly<Record<ServerName, Server>>,
  load: Load,
  names: ReadonlyArray<WorkloadName>,
  { connections, rounds: count, seconds, warmUp: warmUpSeconds }: Run
): Promise<ReadonlyArray<Round>> => {
  const rounds: Array<Round> = []
  let slot = 1
  for (let number = 0; number < count; number++) {
    for (const name of names) {
      const all = answering(name)
      // Each round begins with another server.
      for (const [index] of all.entries()) {
        const server = all[(index + number) % all.length] ?? "ours"
        const measured = await load.measure(servers[server], {
          workload: name,
          address: servers[server].address,
          connections,
          warmUpSeconds,
          seconds,
          slot: slot++,
          alone: server === "floor"
        })
        rounds.push({ workload: name, server, ...measured })
        process.stderr.write(
          `round ${number + 1}, ${name}, ${server}: ${measured.throughput.toFixed(0)}/s, ${
            measured.cpu.toFixed(3)
          } ms CPU, database ${measured.databaseCpu.toFixed(3)}, ${measured.memory.toFixed(0)} MiB\n`
        )
      }
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
  other: Exclude<ServerName, "ours">,
  member: keyof Measured
): ReadonlyArray<number> => {
  const theirs = select(rounds, name, other)
  return select(rounds, name, "ours").map((ours, index) => ours[member] / (theirs[index]?.[member] ?? Number.NaN))
}
