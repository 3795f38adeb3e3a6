/** A change that is asked for again: what it answers, and that nothing more comes of it. */
import { Effect, Redacted, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as crypto from "node:crypto"
import { isDeepStrictEqual } from "node:util"
import type * as Operation from "../../src/kernel/Operation.ts"
import * as Random from "./random.ts"
import * as World from "./world.ts"

type Input = Readonly<Record<string, unknown>>

/**
 * Everything that a change could have changed: the organization's rows but its journal, the journal, and the
 * messenger's.
 */
const state = Effect.fnUntraced(function*(organizationId: string) {
  const sql = yield* SqlClient.SqlClient
  const rowsOf = (table: string) =>
    sql`select ${table}::text as name, json_agg(row order by row::text collate "C") as rows from ${sql(table)} row`
  const tables = ["simulated_account", "simulated_authorization", "simulated_ended_session", "simulated_login"]
  const rows = Object.entries(yield* World.snapshot(organizationId))
  return {
    organization: rows.filter(([table]) => !table.startsWith("journal_")),
    journal: yield* World.journal(organizationId),
    messenger: yield* Effect.orDie(sql`${sql.join(" union all ", false)(tables.map(rowsOf))}`)
  }
})

/** Values that are as good as this one, each of them another. */
const others = (value: unknown): ReadonlyArray<unknown> =>
  typeof value === "string" ?
    [crypto.randomUUID(), `x${value}`, value.replace(/\d$/, (d) => String((Number(d) + 1) % 10))]
    : typeof value === "boolean"
    ? [!value]
    : []

/** The input with one member said otherwise, for each that is no secret and of which the operation takes other values. */
const otherwise = (operation: Operation.Any, input: Input): ReadonlyArray<Input> => {
  const schema: any = operation.input
  const takes = Schema.decodeUnknownResult(schema)
  const taken = takes(input)
  const isSecret = (name: string) => Result.isSuccess(taken) && Redacted.isRedacted(taken.success[name])
  return Object.entries(input).filter(([name]) => !isSecret(name)).flatMap(([name, value]) =>
    others(value).filter((other) => other !== value).map((other) => ({ ...input, [name]: other }))
      .filter((each) => Result.isSuccess(takes(each))).slice(0, 1)
  )
}

/** Sends the operation's request with an `Idempotency-Key`. */
export const keyed = (operation: Operation.Any, members: Input, key: Redacted.Redacted) => {
  const { body, method, path } = Random.draw({ operation: operation.id, members }, Random.noIds)
  return World.send(method, path, {
    key,
    headers: { "idempotency-key": `One of ${operation.id}` },
    ...(body === undefined ? {} : { body })
  })
}

/** The answer as it is kept for a repeat: without what is shown once. */
const kept = (body: Input): Input =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) =>
      typeof value === "string" && value.startsWith("osc_live_") ? [name, null] : [name, value]
    )
  )

/**
 * What is wrong with how a change answers that is asked for again, with the input that it was just made with.
 *
 * One that is idempotent answers the same, or that it has been made. Any other answers the same to its key alone, and
 * refuses the key with every member that is said otherwise, but for secrets.
 */
export const faults = Effect.fnUntraced(function*(
  operation: Operation.Any,
  input: Input,
  { body, organizationId, key }: {
    readonly body: Input
    readonly organizationId: string
    readonly key: Redacted.Redacted
  }
) {
  const before = yield* state(organizationId)
  const found: Array<string> = []
  const note = (what: string, { body, status }: World.Answer) =>
    found.push(`${what} answers ${status} ${body.error?.code ?? ""}`)
  if (operation.idempotent) {
    const again = yield* Random.send(Random.draw({ operation: operation.id, members: input }, Random.noIds), key)
    const same = Object.entries(again.body).every(([name, value]) => isDeepStrictEqual(value, body[name]))
    if (again.status !== 404 && again.status !== 409 && !same) note("a repeat", again)
  } else {
    const again = yield* keyed(operation, input, key)
    const replayed = again.headers.get("idempotent-replayed") === "true"
    if (!replayed || !isDeepStrictEqual(again.body, kept(body))) note("a repeat", again)
    const different = otherwise(operation, input)
    if (different.length === 0) found.push("no member can be said otherwise")
    for (const other of different) {
      const reused = yield* keyed(operation, other, key)
      if (reused.body.error?.code !== "idempotency_key_reused") note(`a repeat with ${JSON.stringify(other)}`, reused)
    }
  }
  const after = yield* state(organizationId)
  // A refusal may have an entry of its own.
  const journal = after.journal.filter(({ outcome, sequence }) =>
    outcome !== "refused" || sequence <= before.journal.length
  )
  if (!isDeepStrictEqual({ ...after, journal }, before)) found.push("a repeat changes something")
  return found
})
