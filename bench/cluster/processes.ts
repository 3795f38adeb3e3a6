/** Processes of the service that share the accounts of a measurement. */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import type { Client } from "pg"
import * as Command from "../../test/support/cli/commandProcess.ts"
import type { Ground } from "../support/ground.ts"

/** Starts a process that serves and watches, and is reached by the others on loopback. */
export const starting = ({ pepper, url }: Ground, data: { readonly port: number; readonly publicKey: string }) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "bench-cluster-"))
  const keys = path.join(folder, "data-centre.pem")
  fs.writeFileSync(keys, data.publicKey)
  const args = [
    ["--messenger", "wire"],
    ["--messenger-application", "1"],
    ["--messenger-data-centre", `1@127.0.0.1:${data.port}`],
    ["--messenger-keys", keys],
    ["--max-live", "100000"],
    ["--log-level", "warn"]
  ].flat()
  const env = {
    CONSOLE_DATABASE_URL: url,
    CONSOLE_PEPPERS: pepper,
    CONSOLE_CHECKPOINT_KEYS: pepper,
    CONSOLE_CSRF_KEYS: pepper,
    CONSOLE_MESSENGER_HASH: "0".repeat(32)
  }
  return {
    start: (port: number) => Command.serve([...args, "--cluster-address", `127.0.0.1:${port}`], env),
    remove: () => fs.rmSync(folder, { recursive: true })
  }
}

/** Statements about leases that the server has run until now. */
export const leaseStatements = async (superuser: Client): Promise<number> => {
  const { rows } = await superuser.query<{ calls: number }>(
    "select coalesce(sum(calls), 0)::int as calls from pg_stat_statements where query ~ 'cluster_(locks|runners)' and query !~ 'pg_stat'"
  )
  return rows[0]?.calls ?? 0
}
