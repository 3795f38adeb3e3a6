/** The service with its embedded database, filled like the others: it has no peer. */
import { PGlite } from "@electric-sql/pglite"
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { type Fixture, seed, type Sizes } from "./fixture.ts"
import { type Server, startEmbedded, type Starting } from "./processes.ts"

export interface Embedded {
  readonly server: Server
  readonly fixture: Fixture
  readonly stop: () => Promise<void>
}

/** Starts it on a directory of its own, which a first start has made. */
export const startEmbeddedService = async (sizes: Sizes, starting: Starting): Promise<Embedded> => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "peers-embedded-"))
  const directory = path.join(folder, "data")
  const remove = () => fs.rmSync(folder, { recursive: true, force: true })
  try {
    const pepper = crypto.randomBytes(32).toString("base64")
    await (await startEmbedded(directory, pepper, starting)).stop()
    const database = await PGlite.create(path.join(directory, "database"), { extensions: { pg_trgm } })
    const fixture = await seed((text, values) => database.query(text, values), pepper, sizes)
    await database.close()
    const server = await startEmbedded(directory, pepper, starting)
    return {
      server,
      fixture,
      stop: async () => {
        await server.stop()
        remove()
      }
    }
  } catch (cause) {
    remove()
    throw cause
  }
}
