/** Where a fault is tried: a database, an organization with accounts and keys on it, and processes that serve it. */
import { PGlite } from "@electric-sql/pglite"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { Client } from "pg"
import * as Command from "../../test/support/cli/commandProcess.ts"
import { createConsole, ownerUrl } from "../../test/support/postgres/databaseRoles.ts"
import { DatabaseServer } from "../../test/support/postgres/databaseServer.ts"
import type { Event, Kept } from "./ledger.ts"

export const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))

export type Query = <Row extends object>(statement: string, values?: Array<unknown>) => Promise<ReadonlyArray<Row>>

const secret = crypto.randomBytes(32).toString("base64")
const organization = "experiment"
const owner = "owner@experiment.example"

/** How many requests a minute of clients the keys carry: 120 each. */
const keyCount = 400
const liveAccounts = 8

/** The messenger that the service is tried on: by default the simulated one, with sessions in some accounts. */
export interface Messenger {
  readonly live: number
  /** The numbers of further accounts. */
  readonly phones?: ReadonlyArray<string>
  readonly serving: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
}

const simulated: Messenger = { live: liveAccounts, serving: ["--demo"], env: {} }

/** An organization with one account for every round and writer, and accounts with a session on the messenger. */
const seedOf = (accounts: number, { live, phones = [] }: Messenger) => ({
  organizations: [{
    id: organization,
    name: "Trial",
    status: "active",
    managed: true,
    billing_state: "active",
    plan: "governance",
    period: "annual",
    licences: { governance: 10_000 },
    seat_limit: 10_000,
    admins: [{ email: owner, role: "owner" }],
    accounts: [
      ...Array.from({ length: accounts + live }, (_, index) => ({
        phone: `+316${String(10_000_000 + index)}`,
        first_name: `Account ${index}`,
        licence_tier: "governance",
        ...(index < live ? { messenger: {} } : {})
      })),
      ...phones.map((phone) => ({ phone, first_name: "Person", licence_tier: "governance" }))
    ],
    api_keys: Array.from({ length: keyCount }, (_, index) => ({
      label: `Client ${index}`,
      admin: owner,
      scopes: ["org:read", "accounts:write", "admins:write", "archive:read"],
      expires_at: null
    }))
  }]
})

export interface Stage {
  readonly organization: string
  readonly env: Record<string, string>
  readonly keys: ReadonlyArray<string>
  readonly plain: ReadonlyArray<string>
  readonly live: ReadonlyArray<string>
  /** Starts a process of the service. */
  readonly serve: (
    args?: ReadonlyArray<string>,
    node?: ReadonlyArray<string>,
    settings?: Readonly<Record<string, string>>
  ) => Promise<Command.Service>
  /** Runs the statements as the database's superuser; on the embedded one no process may serve it meanwhile. */
  readonly within: <A>(work: (query: Query) => Promise<A>) => Promise<A>
  /** Lets the sweep close what is pending, and reads everything; no process serves the database any more. */
  readonly settle: () => Promise<Kept>
  readonly remove: () => Promise<void>
}

export interface PostgresStage extends Stage {
  readonly server: DatabaseServer
}

export interface EmbeddedStage extends Stage {
  readonly directory: string
}

const read = async (query: Query, broken: number): Promise<Kept> => {
  const pairs = async (statement: string) =>
    new Map((await query<{ id: string; value: string | null }>(statement)).map(({ id, value }) => [id, value]))
  const events = await query<Omit<Event, "sequence" | "closes"> & { sequence: string; closes: string | null }>(
    "select * from journal_event order by sequence"
  )
  const [open] = await query<{ count: number }>("select count(*)::int as count from pending_change")
  const keys = await query<{ id: string; label: string }>(
    "select id::text, label from api_key where label not like 'Client %'"
  )
  return {
    events: events.map((event) => ({
      ...event,
      sequence: Number(event.sequence),
      closes: event.closes === null ? null : Number(event.closes)
    })),
    labels: await pairs("select id::text, role_label as value from account"),
    abouts: await pairs(
      "select account.id::text, about as value from account join simulated_account on user_id = messenger_user_id"
    ),
    keys: new Map(keys.map(({ id, label }) => [id, label])),
    leftPending: open?.count ?? 0,
    broken
  }
}

/** Resolves when nothing is pending any more, or after a minute. */
const swept = async (query: Query) => {
  for (const end = Date.now() + 60_000; Date.now() < end; await pause(200)) {
    if ((await query("select from pending_change limit 1")).length === 0) return
  }
}

/** The deadlines of what is pending come now, rather than a minute after each began. */
const bringForward = "update pending_change set deadline = clock_timestamp() - interval '1 second'"

/** Mail is written, and no server takes it. */
const mail = { CONSOLE_MAIL_URL: "smtp://127.0.0.1:9", CONSOLE_MAIL_FROM: "Console <console@experiment.example>" }

const make = async (
  accounts: number,
  settings: Record<string, string>,
  within: Stage["within"],
  remove: Stage["remove"],
  messenger = simulated
): Promise<Stage> => {
  const env: Record<string, string> = { ...settings, ...mail }
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "faults-seed-")), "seed.json")
  fs.writeFileSync(file, JSON.stringify(seedOf(accounts, messenger)))
  const loaded = JSON.parse(await Command.done(["seed", file], { env }))
  fs.rmSync(path.dirname(file), { recursive: true })
  const ids = await within((query) =>
    query<{ id: string; live: boolean }>(
      "select id::text, session_ref is not null as live from account order by phone_number"
    )
  )
  const serve: Stage["serve"] = (args = [], node = [], settings = {}) =>
    Command.serve(
      [...messenger.serving, "--log-format", "json", ...args],
      { ...env, ...messenger.env, ...settings },
      node
    )
  return {
    organization,
    env,
    keys: loaded.keys.map(({ key }: { key: string }) => key),
    plain: ids.filter(({ live }) => !live).map(({ id }) => id),
    live: ids.filter(({ live }) => live).map(({ id }) => id),
    serve,
    within,
    settle: async () => {
      if (env["CONSOLE_DATABASE_URL"] !== undefined) await within((query) => query(bringForward))
      const sweeping = await serve()
      if (env["CONSOLE_DATABASE_URL"] !== undefined) await within(swept)
      await sweeping.stop()
      const verified = await Command.run(["journal", "verify"], { env })
      if (verified.status !== 0) console.error("journal verify:", verified)
      return within((query) => read(query, verified.status === 0 ? 0 : 1))
    },
    remove
  }
}

/** A stage on a PostgreSQL of its own, whose folder stands below `folder`. */
export const onPostgres = async (
  accounts: number,
  folder?: string,
  messenger?: Messenger
): Promise<PostgresStage> => {
  const server = await DatabaseServer.start({ fsync: true, ...(folder === undefined ? {} : { folder }) })
  const url = await createConsole(server, "console")
  const env = {
    CONSOLE_DATABASE_URL: url,
    CONSOLE_MIGRATION_URL: ownerUrl(url),
    CONSOLE_PEPPERS: secret,
    CONSOLE_CHECKPOINT_KEYS: secret,
    CONSOLE_CSRF_KEYS: secret
  }
  await Command.done(["migrate", "--simulated"], { env })
  const within: Stage["within"] = async (work) => {
    const client = new Client({ connectionString: server.url("console") })
    client.on("error", () => {})
    await client.connect()
    try {
      return await work(async (statement, values) => (await client.query(statement, values)).rows)
    } finally {
      await client.end()
    }
  }
  return { ...await make(accounts, env, within, () => server.remove(), messenger), server }
}

/** A stage on an embedded database, in a directory below `folder`. */
export const onDirectory = async (accounts: number, folder: string = os.tmpdir()): Promise<EmbeddedStage> => {
  const home = fs.mkdtempSync(path.join(folder, "faults-"))
  const directory = path.join(home, "data")
  const within: Stage["within"] = async (work) => {
    const database = await PGlite.create(path.join(directory, "database"))
    try {
      return await work(async (statement, values) => (await database.query(statement, values)).rows as Array<any>)
    } finally {
      await database.close()
    }
  }
  const remove = async () => fs.rmSync(home, { recursive: true, force: true })
  return { ...await make(accounts, { CONSOLE_DATA: directory }, within, remove), directory }
}
