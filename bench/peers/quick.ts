/** What a short run prints: the ratios, for whoever works on the path of a request. */
import { ratios, type Round, select } from "./rounds.ts"
import { median } from "./spread.ts"
import { workload, type WorkloadName } from "./workloads.ts"

const ratio = (values: ReadonlyArray<number>) => values.length === 0 ? "" : median(values).toFixed(2)

export const printQuick = (rounds: ReadonlyArray<Round>, names: ReadonlyArray<WorkloadName>): void => {
  const plain = median(select(rounds, "list", "ours").map(({ throughput }) => throughput))
  console.table(Object.fromEntries(names.map((name) => {
    const of = (server: "ours" | "peer", member: "throughput" | "cpu" | "databaseCpu" | "memory", digits: number) => {
      const all = select(rounds, name, server)
      return all.length === 0 ? "" : median(all.map((round) => round[member])).toFixed(digits)
    }
    const beside = workload(name).variant !== true
    return [name, {
      "ours/s": of("ours", "throughput", 0),
      "peer/s": of("peer", "throughput", 0),
      ...(beside
        ? {
          throughput: ratio(ratios(rounds, name, "peer", "throughput")),
          CPU: ratio(ratios(rounds, name, "peer", "cpu")),
          p99: ratio(ratios(rounds, name, "peer", "p99"))
        }
        : { "of list": (plain / Number(of("ours", "throughput", 0))).toFixed(2) }),
      "CPU ms": `${of("ours", "cpu", 3)} / ${of("peer", "cpu", 3)}`,
      "database ms": `${of("ours", "databaseCpu", 3)} / ${of("peer", "databaseCpu", 3)}`,
      "MiB": `${of("ours", "memory", 0)} / ${of("peer", "memory", 0)}`
    }]
  })))
}
