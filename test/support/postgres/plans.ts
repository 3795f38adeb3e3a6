/** How the database runs a statement: what it reads for it, by which indexes. */
import { Effect, Schema } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import * as World from "../world.ts"
import type { Said } from "./statements.ts"

interface Plan {
  readonly "Node Type": string
  readonly "Index Name"?: string
  readonly "Function Name"?: string
  readonly "Actual Rows"?: number
  readonly "Actual Loops"?: number
  readonly "Rows Removed by Filter"?: number
  readonly "Rows Removed by Index Recheck"?: number
  readonly "Shared Hit Blocks"?: number
  readonly "Shared Read Blocks"?: number
  readonly Plans?: ReadonlyArray<Plan>
}

const Explained = Schema.fromJsonString(Schema.Tuple([Schema.Struct({ Plan: Schema.Unknown })]))

/** Every node of the plan, the outermost first. */
const nodes = (plan: Plan): ReadonlyArray<Plan> => [plan, ...(plan.Plans ?? []).flatMap(nodes)]

/** The nodes that read tables or their indexes. */
const readers = new Set(["Seq Scan", "Index Scan", "Index Only Scan", "Bitmap Heap Scan", "Tid Scan"])

/** How many rows the tables gave up for the statement, whether they were wanted or not. */
export const rowsRead = (plan: Plan): number =>
  nodes(plan).filter((node) => readers.has(node["Node Type"])).reduce(
    (sum, node) =>
      sum + (node["Actual Loops"] ?? 0) * (
          (node["Actual Rows"] ?? 0) + (node["Rows Removed by Filter"] ?? 0) +
          (node["Rows Removed by Index Recheck"] ?? 0)
        ),
    0
  )

/**
 * How many blocks of tables and indexes the statement looked at. A part of an index that is walked for the few entries
 * of an id shows here alone: entries whose id is another count as no rows.
 */
export const blocksRead = (plan: Plan): number => (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0)

/** Whether the function is called for the statement at all. */
export const runs = (plan: Plan, name: string): boolean =>
  nodes(plan).some((node) => node["Function Name"] === name && (node["Actual Loops"] ?? 0) > 0)

/** A value as it stands in a statement. */
const literal = (value: unknown): string => {
  if (value === null || value === undefined) return "null"
  if (Array.isArray(value)) return `'{${value.join(",")}}'`
  if (value instanceof Date) return `'${value.toISOString()}'`
  return typeof value === "number" || typeof value === "boolean" ? String(value) : `'${String(value)}'`
}

/** How the database would run the statement for whatever values it is given, as lines without costs and ids. */
export const outline = (organizationId: string, { params, sql: text }: Said) =>
  World.query<Record<string, string>>(organizationId, (sql) =>
    Effect.gen(function*() {
      yield* sql.unsafe(
        "select set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true)"
      )
      yield* sql.unsafe(`prepare outlined as ${text}`)
      const values = params.length === 0 ? "" : `(${params.map(literal).join(", ")})`
      const rows = yield* sql.unsafe<Record<string, string>>(`explain (costs off) execute outlined${values}`)
      yield* sql.unsafe("deallocate outlined")
      return rows
    })).pipe(
      Effect.orDie,
      Effect.map((rows) =>
        rows.map((row) =>
          Object.values(row).join().replaceAll(
            /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|'[^']*'::(?:text|bigint)/g,
            "id"
          )
        )
      )
    )

const planOf = (row: Readonly<Record<string, unknown>> | undefined): Plan => {
  const value = row?.["QUERY PLAN"]
  const [{ Plan }] = Schema.decodeUnknownSync(Explained)(typeof value === "string" ? value : JSON.stringify(value))
  return Plan as Plan
}

/**
 * Runs the statement as the organization's tenant and answers its plan: made for these values, or the one that serves
 * all values, as the database may choose for a statement that is prepared once and runs often.
 */
export const plan = (
  organizationId: string,
  { params, sql: text }: Said,
  made: "for these values" | "for all values" = "for these values"
) =>
  World.query<Record<string, unknown>>(organizationId, (sql) =>
    Effect.gen(function*() {
      const mode = made === "for these values" ? "force_custom_plan" : "force_generic_plan"
      yield* sql.unsafe(`set local plan_cache_mode = ${mode}`)
      yield* sql.unsafe(`prepare planned as ${text}`)
      const values = params.length === 0 ? "" : `(${params.map(literal).join(", ")})`
      const rows = yield* sql.unsafe<Record<string, unknown>>(
        `explain (analyze, buffers, format json) execute planned${values}`
      )
      yield* sql.unsafe("deallocate planned")
      return rows
    })).pipe(
      Effect.orDie,
      Effect.map(([row]) => planOf(row))
    )

/**
 * The same for a statement that is run outside any organization, planned as the settings say; what it changes is
 * undone.
 */
export const planOutside = (settings: string, { params, sql: text }: Said) =>
  SqlClient.SqlClient.use((sql) =>
    Effect.flip(sql.withTransaction(Effect.gen(function*() {
      yield* sql.unsafe(settings)
      yield* sql.unsafe(`prepare planned as ${text}`)
      const values = params.length === 0 ? "" : `(${params.map(literal).join(", ")})`
      const [row] = yield* sql.unsafe<Record<string, unknown>>(
        `explain (analyze, format json) execute planned${values}`
      )
      yield* sql.unsafe("deallocate planned")
      return yield* Effect.fail(planOf(row))
    })))
  ).pipe(Effect.flatMap((plan) => SqlError.isSqlError(plan) ? Effect.die(plan) : Effect.succeed(plan)))
