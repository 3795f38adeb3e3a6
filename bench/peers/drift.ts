/** Whether the peer still asks the database what the service asks. */
import { setTimeout } from "node:timers/promises"
import type { Fixture } from "./fixture.ts"
import type { Heard, Wire } from "./wire.ts"
import { requestsOf, type WorkloadName } from "./workloads.ts"

const tries = 10

/** Milliseconds in which a server has sent what belongs to a request. */
const afterwards = 50

/**
 * What a server asks for one request of the workload: the second of two requests that asked alike, since the first one
 * with a key notes when the key was used, and a server has work of its own now and then.
 */
export const heardFor = async (
  server: { readonly address: string },
  wire: Wire,
  fixture: Fixture,
  workload: WorkloadName
): Promise<Heard> => {
  let before: Heard | undefined
  const [first] = requestsOf(workload, fixture, 0, 1, 0)
  if (first === undefined) throw new Error("There is nothing to ask")
  for (let attempt = 0; attempt < tries; attempt++) {
    const body = first.body?.replace("Label 0.0", `Heard ${process.hrtime.bigint()}`)
    wire.take()
    const response = await fetch(new URL(first.path, server.address), {
      method: first.method,
      headers: first.headers,
      ...(body === undefined ? {} : { body })
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${workload} answered ${response.status}: ${text}`)
    // The end of a transaction may follow the answer.
    await setTimeout(afterwards)
    const heard = wire.take()
    if (before !== undefined && before.statements.join("\n") === heard.statements.join("\n")) return heard
    before = heard
  }
  throw new Error(`${workload} asks the database something else each time`)
}

/** Where the lists differ, in words that say what to do. */
export const driftOf = (workload: string, service: Heard, peer: Heard): ReadonlyArray<string> =>
  Array.from({ length: Math.max(service.statements.length, peer.statements.length) }, (_, index) => index)
    .filter((index) => service.statements[index] !== peer.statements[index])
    .map((index) =>
      [
        `${workload}, statement ${index + 1}: bench/peers/statements.ts has to follow the service`,
        `  the service: ${service.statements[index] ?? "nothing"}`,
        `  the peer:    ${peer.statements[index] ?? "nothing"}`
      ].join("\n")
    )
