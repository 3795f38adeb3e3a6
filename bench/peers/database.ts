/** The databases of the comparison: on one PostgreSQL 15 that waits for its disk, the service's and the peer's. */
import { Effect } from "effect"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { Client } from "pg"
import { createConsole, migrate } from "../../test/support/postgres/databaseRoles.ts"
import { DatabaseServer } from "../../test/support/postgres/databaseServer.ts"
import { type Fixture, seed, type Sizes } from "./fixture.ts"
import { makePeerDatabase, type PeerDatabase } from "./peer/fill.ts"
import { makeStrangers, type Strangers } from "./strangers.ts"

export interface Database {
  /** As the service connects. */
  readonly url: string
  /** As a superuser connects, whom no policy holds back. */
  readonly superUrl: string
  readonly superuser: Client
  readonly pepper: string
  readonly fixture: Fixture
  readonly strangers: Strangers
  readonly peer: PeerDatabase
}

/** Fills the service's migrated database, and makes the peer's with the same facts. */
export const fill = async (url: string, superUrl: string, superuser: Client, sizes: Sizes): Promise<Database> => {
  const pepper = crypto.randomBytes(32).toString("base64")
  const fixture = await seed((text, values) => superuser.query(text, values), pepper, sizes)
  const [first, second] = fixture.organizations
  if (first === undefined || second === undefined) throw new Error("Two organizations are needed")
  const strangers = await makeStrangers(superuser, pepper, first, second)
  const peer = await makePeerDatabase(superUrl, superuser)
  return { url, superUrl, superuser, pepper, fixture, strangers, peer }
}

export interface Started extends Database {
  /** The process of the server, whose children answer. */
  readonly pid: number
  readonly remove: () => Promise<void>
}

/** Starts a server of its own with further settings, and fills both. */
export const startDatabase = async (
  sizes: Sizes,
  settings: Readonly<Record<string, string>> = {}
): Promise<Started> => {
  const server = await DatabaseServer.start({ fsync: true, settings })
  try {
    const url = await createConsole(server, "console")
    await Effect.runPromise(migrate(url))
    const superUrl = server.url("console")
    const superuser = new Client(superUrl)
    await superuser.connect()
    const database = await fill(url, superUrl, superuser, sizes)
    return {
      ...database,
      pid: Number.parseInt(fs.readFileSync(path.join(server.home, "data", "postmaster.pid"), "utf8"), 10),
      remove: async () => {
        await database.peer.remove()
        await superuser.end()
        await server.remove()
      }
    }
  } catch (cause) {
    await server.remove()
    throw cause
  }
}
