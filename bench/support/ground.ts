/** A private PostgreSQL 15 for a measurement: migrated, sized for millions of rows, with credentials made past the API. */
import { Effect, Redacted, Schema } from "effect"
import * as crypto from "node:crypto"
import { existsSync } from "node:fs"
import * as fs from "node:fs/promises"
import * as os from "node:os"
import * as path from "node:path"
import { Client } from "pg"
import { form } from "../../src/layers/crypto/credentials/ApiKeys.ts"
import { createConsole, migrate } from "../../test/support/postgres/databaseRoles.ts"
import { DatabaseServer } from "../../test/support/postgres/databaseServer.ts"
import { idOf, type Member } from "../../test/support/postgres/fill.ts"

export interface Ground {
  /** As the service connects. */
  readonly url: string
  /** Whom no policy holds back. */
  readonly superuser: Client
  readonly pepper: string
  readonly server: DatabaseServer
  /** The directory of stored files. */
  readonly blobs: string
  /** PostgreSQL's first process. */
  readonly pid: number
  /** True where it began with what an earlier run had kept. */
  readonly isKept: boolean
  /** Stops the server, and keeps its data in the folder that it was started with. */
  readonly keep: () => Promise<void>
  readonly remove: () => Promise<void>
}

/** The secrets of kept data. */
const Kept = Schema.fromJsonString(Schema.Struct({ password: Schema.String, pepper: Schema.String }))
const readKept = Schema.decodeUnknownSync(Kept)
const writeKept = Schema.encodeSync(Kept)

const settings = {
  shared_buffers: "1GB",
  maintenance_work_mem: "1GB",
  work_mem: "64MB",
  max_wal_size: "8GB",
  wal_level: "minimal",
  max_wal_senders: "0",
  synchronous_commit: "off"
}

/** Starts it, with further settings; the data goes with the process. It begins with what the folder keeps. */
export const startGround = async (
  further: Readonly<Record<string, string>> = {},
  folder = ""
): Promise<Ground> => {
  const data = path.join(folder, "data")
  const secrets = path.join(folder, "secrets.json")
  const kept = folder !== "" && existsSync(secrets) ? readKept(await fs.readFile(secrets, "utf8")) : null
  const server = await DatabaseServer.start({
    settings: { ...settings, ...further },
    ...(kept === null ? {} : { from: { data, password: kept.password } })
  })
  try {
    const url = kept === null ? await createConsole(server, "console") : server.url("console", "console")
    await Effect.runPromise(migrate(url))
    const superuser = new Client(server.url("console"))
    await superuser.connect()
    const blobs = await fs.mkdtemp(path.join(os.tmpdir(), "console-blobs-"))
    const pepper = kept?.pepper ?? crypto.randomBytes(32).toString("base64")
    const stop = async () => {
      await superuser.end().catch(() => {})
      await server.stop()
    }
    return {
      url,
      superuser,
      server,
      blobs,
      pid: server.pid,
      pepper,
      isKept: kept !== null,
      keep: async () => {
        await stop()
        await fs.mkdir(folder, { recursive: true })
        await server.backUp(data)
        await fs.writeFile(secrets, writeKept({ password: server.password, pepper }))
      },
      remove: async () => {
        await stop()
        await server.remove()
        await fs.rm(blobs, { recursive: true, force: true })
      }
    }
  } catch (cause) {
    await server.remove()
    throw cause
  }
}

/** Starts it filled: with what the folder keeps of an earlier run, or with what it keeps from now on. */
export const startFilled = async (folder: string, fill: (ground: Ground) => Promise<void>): Promise<Ground> => {
  if (folder !== "" && !existsSync(folder)) {
    const ground = await startGround({}, folder)
    try {
      await fill(ground)
      await ground.keep()
    } finally {
      await ground.remove()
    }
  }
  const ground = await startGround({}, folder)
  try {
    if (!ground.isKept) await fill(ground)
    return ground
  } catch (cause) {
    await ground.remove()
    throw cause
  }
}

/** The pepper's id, from its text in the parameter. */
const pepperId = (parameter: string) => `left(encode(sha256(decode(${parameter}, 'base64')), 'hex'), 8)`

const secrets = ({ pepper }: Ground, start: string, count: number) =>
  Array.from({ length: count }, () => {
    const secret = Redacted.value(form(start).write(crypto.randomBytes(32)))
    return { secret, digest: crypto.createHmac("sha256", Buffer.from(pepper, "base64")).update(secret).digest("hex") }
  })

/** Makes keys of one of the organization's members. */
export const makeKeys = async (
  ground: Ground,
  organizationId: string,
  member: Member,
  count: number,
  scopes: ReadonlyArray<string> = ["org:read", "accounts:write"]
): Promise<ReadonlyArray<string>> => {
  const made = secrets(ground, "osc_live_", count)
  await ground.superuser.query(
    `insert into api_key (organization_id, id, admin_id, label, scopes, digest, pepper_id, created_at, last_used_at)
    select $1, gen_random_uuid(), ${idOf("admin", organizationId, `'${member}'`)}, 'Key',
      $4, digest, ${pepperId("$3")}, now(), now()
    from unnest($2::text[]) digest`,
    [organizationId, made.map(({ digest }) => digest), ground.pepper, scopes]
  )
  return made.map(({ secret }) => secret)
}

/** Makes access tokens, each of a connection of its own, of an application that the owner limited to departments. */
export const makeLimitedTokens = async (
  ground: Ground,
  organizationId: string,
  departments: number,
  address: string,
  count: number
): Promise<ReadonlyArray<string>> => {
  const made = secrets(ground, "osc_oat_", count)
  await ground.superuser.query(
    `with connection as (
      insert into ai_connection (organization_id, id, admin_id, kind, label, client_name, client_host, mode, scopes,
        scope_type, resource, created_at, last_used_at)
      select $1, gen_random_uuid(), ${idOf("admin", organizationId, "'owner'")}, 'oauth', digest, 'App', 'app.example',
        'cloud', array['org:read'], 'departments', $4, now(), now()
      from unnest($2::text[]) digest
      returning id, label
    ), chosen as (
      insert into ai_connection_department (organization_id, connection_id, department_id, place)
      select $1, connection.id, listed.id, place
      from connection, (
        select id, row_number() over () as place from department where organization_id = $1 order by name limit $3
      ) as listed
    )
    insert into oauth_token (organization_id, digest, pepper_id, connection_id, kind, scopes, created_at, expires_at)
    select $1, label, ${
      pepperId("$5")
    }, id, 'access', array['org:read'], now(), now() + interval '1 day' from connection`,
    [organizationId, made.map(({ digest }) => digest), departments, `${address}/v1`, ground.pepper]
  )
  return made.map(({ secret }) => secret)
}

/** The place in the server's log, in bytes. */
export const walPosition = async ({ superuser }: Ground): Promise<number> => {
  const { rows } = await superuser.query("select (pg_current_wal_lsn() - '0/0')::float8 as at")
  return rows[0].at
}
