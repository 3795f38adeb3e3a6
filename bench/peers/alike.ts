/** Before anything is measured: the peer answers like the service, and asks the database the same. */
import { casesFor, differences } from "./conformance.ts"
import type { Database } from "./database.ts"
import { driftOf, heardFor } from "./drift.ts"
import { entryDifferences, lastEntry, verifyJournals } from "./entries.ts"
import type { Fixture } from "./fixture.ts"
import { type Server, startPeer, startService } from "./processes.ts"
import { makeUnrelatedAccounts } from "./strangers.ts"
import { type Heard, listen } from "./wire.ts"
import type { WorkloadName } from "./workloads.ts"

/** What one of the workloads asks of the database, by whom. */
export interface Asked {
  readonly workload: WorkloadName
  readonly service: Heard
  readonly peer: Heard
}

export interface Compared {
  /** How many requests were compared. */
  readonly requests: number
  /** How answers and statements differ, in words; nothing where they are alike. */
  readonly differences: ReadonlyArray<string>
  /** By keys of the owner, who reaches every account. */
  readonly asked: ReadonlyArray<Asked>
}

/** The fixture with further keys of the owner alone, or of the admin alone: the first ones have asked a lot. */
const keysOf = ({ organizations }: Fixture, parity: 0 | 1): Fixture => ({
  organizations: organizations.map((each) => ({
    ...each,
    keys: each.keys.filter((_, index) => index >= 2 && index % 2 === parity)
  }))
})

/**
 * Asks both the same, each over a wire of its own: what the cases ask, and then each of the workloads, whose statements
 * are compared.
 */
export const compare = async (
  database: Pick<Database, "url" | "pepper" | "fixture" | "superuser">,
  workloads: ReadonlyArray<WorkloadName>,
  pipelined: boolean
): Promise<Compared> => {
  const [first, second] = database.fixture.organizations
  if (first === undefined || second === undefined) throw new Error("Two organizations are needed")
  const wires = [await listen(database.url), await listen(database.url)] as const
  const servers: Array<Server> = []
  try {
    servers.push(
      ...await Promise.all([
        startService(wires[0].url, database.pepper),
        startPeer(wires[1].url, database.pepper, pipelined)
      ])
    )
    const [service, peer] = servers
    if (service === undefined || peer === undefined) throw new Error("Both are needed")
    const strangers = await makeUnrelatedAccounts(database.superuser, database.pepper, first, second)
    const cases = casesFor(first, strangers)
    const since = await lastEntry(database.superuser, first.id)
    const found = [
      ...await differences(service, peer, cases),
      ...await entryDifferences(database.superuser, first.id, since)
    ]
    const asked: Array<Asked> = []
    for (const parity of [0, 1] as const) {
      const fixture = keysOf(database.fixture, parity)
      for (const workload of workloads) {
        const heard = {
          workload,
          service: await heardFor(service, wires[0], fixture, workload),
          peer: await heardFor(peer, wires[1], fixture, workload)
        }
        found.push(...driftOf(workload, heard.service, heard.peer))
        if (parity === 0) asked.push(heard)
      }
    }
    await verifyJournals(database.url, database.pepper)
    return { requests: cases.length, differences: found, asked }
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
    for (const wire of wires) wire.close()
  }
}
