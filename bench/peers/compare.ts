/** Before anything is measured: the peer answers like the service, and journals the same. */
import { casesFor, differences, type Side } from "./conformance.ts"
import type { Database } from "./database.ts"
import { entryDifferences, lastEntries, verifyJournals } from "./entries.ts"
import { type Server, type Starting, startPeer, startService } from "./processes.ts"
import { type Step, steps, type Strangers } from "./strangers.ts"

export interface Compared {
  /** How many requests were compared. */
  readonly requests: number
  /** How answers and entries of the journal differ, in words; nothing where they are alike. */
  readonly differences: ReadonlyArray<string>
}

const sideOf = (of: "service" | "peer", { address }: Server, database: Database, { values }: Strangers): Side => ({
  address,
  prepare: async (step: Step) => {
    const client = of === "service" ? database.superuser : database.peer.client
    await client.query(steps[of][step], [...values[step]])
  }
})

/** How many of more requests than the budget holds, all at once with one key, are admitted. */
const admitted = async ({ address }: Server, key: string): Promise<number> => {
  const asked = Array.from({ length: 150 }, async () => {
    const response = await fetch(new URL("/v1/organization", address), { headers: { authorization: `Bearer ${key}` } })
    await response.text()
    return response.status === 200
  })
  return (await Promise.all(asked)).filter((yes) => yes).length
}

/** Asks both the same. */
export const compare = async (database: Database, starting: Starting = {}): Promise<Compared> => {
  const [tenant] = database.fixture.organizations
  if (tenant === undefined) throw new Error("An organization is needed")
  const { strangers } = database
  const servers: Array<Server> = []
  try {
    const service = await startService(database.url, database.pepper, starting)
    servers.push(service)
    const peer = await startPeer(database.peer.url, database.pepper)
    servers.push(peer)
    const cases = casesFor(tenant, strangers)
    const clients = { service: database.superuser, peer: database.peer.client }
    const unused = tenant.keys.at(-1) ?? ""
    const budgets = [await admitted(service, unused), await admitted(peer, unused)]
    const since = await lastEntries(clients, tenant.id)
    const found = [
      ...(budgets.every((count) => count === 120) ? [] : [`The budgets admit ${budgets.join(" and ")} requests`]),
      ...await differences(
        sideOf("service", service, database, strangers),
        sideOf("peer", peer, database, strangers),
        cases
      ),
      ...await entryDifferences(clients, tenant.id, since)
    ]
    await verifyJournals(database.url, database.pepper, database.peer.client)
    return { requests: cases.length, differences: found }
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
}
