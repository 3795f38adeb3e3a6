/** The one database of the comparison: PostgreSQL 15 that waits for its disk, migrated and filled. */
import { Effect } from "effect"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { Client } from "pg"
import { createConsole, migrate } from "../../test/support/databaseRoles.ts"
import { DatabaseServer } from "../../test/support/databaseServer.ts"
import { type Fixture, seed, type Sizes } from "./fixture.ts"

export interface Database {
  /** As the service connects. */
  readonly url: string
  /** As a superuser connects, whom no policy holds back. */
  readonly superUrl: string
  readonly superuser: Client
  readonly pepper: string
  readonly fixture: Fixture
  /** The process of the server, whose children answer. */
  readonly pid: number
  readonly remove: () => Promise<void>
}

/** Starts and fills it. */
export const startDatabase = async (sizes: Sizes): Promise<Database> => {
  const server = await DatabaseServer.start({ fsync: true })
  try {
    const url = await createConsole(server, "console")
    await Effect.runPromise(migrate(url))
    const superUrl = server.url("console")
    const superuser = new Client(superUrl)
    await superuser.connect()
    const pepper = crypto.randomBytes(32).toString("base64")
    const fixture = await seed(superuser, pepper, sizes)
    return {
      url,
      superUrl,
      superuser,
      pepper,
      fixture,
      pid: Number.parseInt(fs.readFileSync(path.join(server.home, "data", "postmaster.pid"), "utf8"), 10),
      remove: async () => {
        await superuser.end()
        await server.remove()
      }
    }
  } catch (cause) {
    await server.remove()
    throw cause
  }
}
