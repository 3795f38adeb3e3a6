/** The signed checkpoints of journals, as they are stored: one chain over all organizations. */
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { Checkpoint } from "../../../domain/journal/Checkpoint.ts"
import * as Sql from "../../postgres/Rows.ts"

/** The columns that a checkpoint is read from. */
export const columns = `number, organization_id as organization, sequence, hash, at, previous, key_id, signature`

/** A checkpoint as those columns give it. */
export type Row = Omit<Checkpoint, "object">

export const fromRow = (row: Row): Checkpoint => ({ object: "journal_checkpoint", ...row })

/** The checkpoints after a number, in their order; as a directory statement. */
export const after = Effect.fnUntraced(function*(number: number, limit: number) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<Row>`
    select ${sql.literal(columns)} from journal_checkpoint where number > ${number} order by number limit ${limit}`
  return rows.map(fromRow)
})

/** The organization's checkpoints of events after one and up to another; within its transaction. */
export const between = Effect.fnUntraced(function*(organizationId: string, after: number, upTo: number) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Effect.orDie(sql<Row>`
    select ${sql.literal(columns)} from journal_checkpoint
    where organization_id = ${organizationId} and sequence > ${after} and sequence <= ${upTo} order by sequence`)
  return rows.map(fromRow)
})

/** The organization's newest checkpoint; within its transaction. */
export const newest = Effect.fnUntraced(function*(organizationId: string) {
  const sql = yield* SqlClient.SqlClient
  const row = yield* Effect.orDie(Sql.one(sql<Row>`
    select ${sql.literal(columns)} from journal_checkpoint
    where organization_id = ${organizationId} order by sequence desc limit 1`))
  return Option.map(Option.fromNullishOr(row), fromRow)
})
