/** The embedded database: PGlite in this process, spoken to in PostgreSQL's own protocol. */
import { PGlite } from "@electric-sql/pglite"
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm"
import { NodeFS } from "@electric-sql/pglite/nodefs"
import { Effect, Layer } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlError } from "effect/sql"
import * as fs from "node:fs"
import * as path from "node:path"
import { Duplex } from "node:stream"
import * as Client from "./DatabaseClient.ts"
import * as DirectoryLock from "./DirectoryLock.ts"
import { roles } from "./Schema.ts"

const protocolVersion = 196_608

const encoder = new TextEncoder()

const message = (type: string, body: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(5 + body.length)
  bytes.set(encoder.encode(type))
  new DataView(bytes.buffer).setUint32(1, 4 + body.length)
  bytes.set(body, 5)
  return bytes
}

/** AuthenticationOk, an empty BackendKeyData, ReadyForQuery. */
const welcome = Buffer.concat([
  message("R", new Uint8Array(4)),
  message("K", new Uint8Array(8)),
  message("Z", encoder.encode("I"))
])

const simpleQuery = (sql: string): Uint8Array => message("Q", encoder.encode(`${sql}\0`))

/**
 * One session's byte stream, answered by PGlite.
 *
 * PGlite has one backend, so a new session first clears what an earlier one left on it.
 */
class Wire extends Duplex {
  readonly #database: PGlite
  readonly #onStart: string
  #started = false

  constructor(database: PGlite, onStart: string) {
    super()
    this.#database = database
    this.#onStart = onStart
  }

  override _read() {}

  override _write(frame: Uint8Array, _encoding: string, callback: (error?: Error | null) => void) {
    // A turn of the event loop per frame: PGlite blocks it, and sockets and timers must have theirs.
    setImmediate(() => {
      this.#answer(frame).then((answer) => {
        callback()
        this.push(answer)
      }, (cause: unknown) => callback(cause instanceof Error ? cause : new Error(String(cause))))
    })
  }

  /** PGlite's own raw call reads each answer too, and keeps what it has read; its stream hands the bytes over alone. */
  async #execute(frame: Uint8Array): Promise<Uint8Array> {
    const pieces: Array<Uint8Array> = []
    await this.#database.execProtocolRawStream(frame, {
      syncToFs: false,
      // The bytes lie in the database's memory.
      onRawData: (piece) => pieces.push(piece.slice())
    })
    return Buffer.concat(pieces)
  }

  async #answer(frame: Uint8Array): Promise<Uint8Array | null> {
    if (this.#started) return frame[0] === 0x58 ? null : this.#execute(frame)
    const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength)
    // Anything but a startup is a CancelRequest, which a backend without threads cannot heed.
    if (view.getUint32(4) !== protocolVersion) return null
    this.#started = true
    for (const sql of ["ROLLBACK", "DISCARD ALL", this.#onStart]) {
      await this.#execute(simpleQuery(sql))
    }
    return welcome
  }
}

/** The extensions that the schema needs besides PostgreSQL itself. */
export const extensions = { pg_trgm }

/**
 * PostgreSQL's settings for an embedded database: PGlite's own, and an eighth of the buffers, all of which WebAssembly
 * fills with zeros at each start.
 */
export const startParams = [...PGlite.defaultStartParams, "-c", "shared_buffers=16MB"]

/** Those for a directory: without PGlite's `-F`, which turns fsync off. */
const durableParams = [
  ...startParams.filter((param) => param !== "-F"),
  // The WebAssembly build's fdatasync does nothing; its fsync reaches the file system below.
  "-c",
  "wal_sync_method=fsync"
]

/** A directory whose fsync is the operating system's, which PGlite's own leaves out. */
class DurableDirectory extends NodeFS {
  override async init(database: PGlite, options: Parameters<NodeFS["init"]>[1]) {
    const { emscriptenOpts } = await super.init(database, options)
    const preRun: typeof emscriptenOpts.preRun = [
      ...(emscriptenOpts.preRun ?? []),
      (module) => {
        Object.assign(Object(Reflect.get(module.NODEFS, "stream_ops")), {
          fsync: (stream: { readonly nfd: number }) => {
            fs.fsyncSync(stream.nfd)
            return 0
          }
        })
      }
    ]
    return { emscriptenOpts: { ...emscriptenOpts, preRun } }
  }
}

/** Opens the database below the directory; a first start that is cut short leaves nothing that looks like one. */
const openDirectory = async (directory: string): Promise<PGlite> => {
  const data = path.join(directory, "database")
  if (!fs.existsSync(data)) {
    const draft = path.join(directory, "database.new")
    fs.rmSync(draft, { recursive: true, force: true })
    fs.mkdirSync(draft, { mode: 0o700 })
    const database = await PGlite.create({ fs: new DurableDirectory(draft), startParams: durableParams, extensions })
    await database.close()
    fs.renameSync(draft, data)
  }
  return PGlite.create({ fs: new DurableDirectory(data), startParams: durableParams, extensions })
}

const client = Effect.fnUntraced(function*(open: () => Promise<PGlite>, role: "console_owner" | "console_service") {
  const database = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const database = await open()
      await database.exec(roles())
      return database
    }),
    (database) => Effect.promise(() => database.close())
  )
  return yield* Client.make("pglite", {
    stream: () => new Wire(database, `set role ${role}`),
    ssl: false,
    username: "postgres",
    minConnections: 1,
    maxConnections: 1
  })
})

/**
 * The `SqlClient` of the embedded database in a directory, which it creates with mode 0700 and locks.
 *
 * Statements run as `console_service`, which owns nothing and is not above row level security, migrations as
 * `console_owner`, which is neither a superuser nor above it. A second process fails with `DirectoryInUse`, unless
 * `whenInUse` says to try again. A commit is on disk before it is acknowledged.
 */
export const layer = (
  options: { readonly directory: string; readonly whenInUse?: DirectoryLock.WhenInUse }
): Layer.Layer<SqlClient.SqlClient, DirectoryLock.DirectoryInUse | DirectoryLock.DirectoryOpen | SqlError.SqlError> =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.flatMap(
      DirectoryLock.acquire(options.directory, options.whenInUse),
      (directory) => client(() => openDirectory(directory), "console_service")
    )
  ).pipe(Layer.provide(Reactivity.layer))

/** The `SqlClient` of a database that the caller opens, which it prepares, and closes with its scope. */
export const layerFrom = (
  open: () => Promise<PGlite>,
  role: "console_owner" | "console_service" = "console_service"
): Layer.Layer<SqlClient.SqlClient, SqlError.SqlError> =>
  Layer.effect(SqlClient.SqlClient, client(open, role)).pipe(Layer.provide(Reactivity.layer))

/** The `SqlClient` of a new, empty embedded database in memory. */
export const layerMemory: Layer.Layer<SqlClient.SqlClient, SqlError.SqlError> = layerFrom(() =>
  PGlite.create({ startParams, extensions })
)
