/** The slots of accounts that a process has now, by the rows of its leases. */
const owned = `select split_part(shard_id, ':', 2)::int - 1 as slot from cluster_locks
  where address like '%:' || $1 and acquired_at > now() at time zone 'UTC' - interval '12 s'`

type Query = (statement: string, values: Array<unknown>) => Promise<ReadonlyArray<{ readonly slot: number }>>

/** The slots of the process that the others reach at the port. */
export const slotsOf = async (query: Query, port: number): Promise<ReadonlySet<number>> =>
  new Set((await query(owned, [port])).map(({ slot }) => slot))
