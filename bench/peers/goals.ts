/** What is asked of the service, and whether the rounds reach it. */
import { ratios, type Round, select } from "./rounds.ts"
import { median } from "./spread.ts"
import { workload, type WorkloadName } from "./workloads.ts"

export interface Goal {
  readonly workload: WorkloadName
  readonly what: string
  readonly values: ReadonlyArray<number>
  readonly goal: string
  readonly reached: boolean
  readonly digits: number
}

const atLeast = (least: number, better?: number) => ({
  goal: `at least ${least.toFixed(1)}${better === undefined ? "" : `, better ${better.toFixed(1)}`}`,
  isMet: (value: number) => value >= least
})
const atMost = (most: number, unit = "") => ({
  goal: `at most ${unit === "" ? most.toFixed(1) : `${most}${unit}`}`,
  isMet: (value: number) => value <= most
})

/** The plain list's throughput over a variant's, round by round. */
const variantRatios = (rounds: ReadonlyArray<Round>, name: WorkloadName): ReadonlyArray<number> => {
  const variant = select(rounds, name, "ours")
  return select(rounds, "list", "ours").map((plain, index) =>
    plain.throughput / (variant[index]?.throughput ?? Number.NaN)
  )
}

const memoryOf = (rounds: ReadonlyArray<Round>, name: WorkloadName): ReadonlyArray<number> =>
  select(rounds, name, "ours").map(({ memory }) => memory)

const throughputGoal = (name: WorkloadName) => {
  const { kind, over } = workload(name)
  return kind === "write" ? atLeast(0.9, 1.1) : over === "mcp" ? atLeast(1.2) : atLeast(1.1, 1.2)
}

/** The goals of the workloads that were run. */
export const goalsOf = (rounds: ReadonlyArray<Round>, names: ReadonlyArray<WorkloadName>): ReadonlyArray<Goal> => {
  const goal = (
    name: WorkloadName,
    what: string,
    values: ReadonlyArray<number>,
    { goal, isMet }: ReturnType<typeof atLeast>,
    digits = 2
  ): Goal => ({ workload: name, what, values, goal, reached: values.length > 0 && isMet(median(values)), digits })
  const peer = (name: WorkloadName, member: "throughput" | "cpu" | "p99") => ratios(rounds, name, "peer", member)
  const plain = names.filter((name) => workload(name).variant !== true)
  const variants = names.includes("list") ? names.filter((name) => workload(name).variant === true) : []
  return [
    ...plain.map((name) => goal(name, "throughput over the peer's", peer(name, "throughput"), throughputGoal(name))),
    ...(["read", "write"] as const).flatMap((kind) =>
      plain.filter((name) => workload(name).kind === kind).map((name) =>
        goal(name, `CPU of a ${kind} over the peer's`, peer(name, "cpu"), atMost(kind === "read" ? 1 : 1.3))
      )
    ),
    ...plain.map((name) => goal(name, "p99 over the peer's", peer(name, "p99"), atMost(1))),
    ...plain.map((name) => goal(name, "resident memory under load", memoryOf(rounds, name), atMost(200, " MiB"), 0)),
    ...variants.map((name) => goal(name, "time of the plain list", variantRatios(rounds, name), atMost(1.3)))
  ]
}
