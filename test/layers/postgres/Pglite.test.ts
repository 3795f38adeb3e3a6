import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import * as childProcess from "node:child_process"
import builtinFs, * as fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import * as os from "node:os"
import * as path from "node:path"
import * as v8 from "node:v8"
import * as vm from "node:vm"
import * as DirectoryLock from "../../../src/layers/postgres/DirectoryLock.ts"
import * as Pglite from "../../../src/layers/postgres/Pglite.ts"
import * as Tenant from "../../../src/layers/postgres/Tenant.ts"
import { asOwner, fillDirectory, pglite } from "../../support/postgres/database.ts"
import { flags } from "../../support/run/program.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "pglite-test-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
)

/** A directory whose database has been opened before, since a first start takes seconds. */
const opened = Effect.map(folder, (folder) => {
  const directory = path.join(folder, "data")
  fillDirectory(directory)
  return directory
})

const holderFile = path.join(import.meta.dirname, "../../support/postgres/databaseHolder.ts")

/** A second process on the directory, killed with the scope, and the rows that it has acknowledged. */
const holder = Effect.fnUntraced(function*(directory: string) {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      childProcess.spawn(process.execPath, [...flags, holderFile, directory], { stdio: ["ignore", "pipe", "inherit"] })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  let output = ""
  child.stdout.setEncoding("utf8")
  const until = (rows: number) =>
    new Promise<void>((resolve, reject) => {
      child.once("exit", (code) => reject(new Error(`the holder ended with ${code}`)))
      child.stdout.on("data", (text: string) => {
        output += text
        if (output.split("\n").length > rows) resolve()
      })
    })
  const kill = () =>
    new Promise<Array<number>>((resolve) => {
      child.once("close", () => resolve(output.split("\n").slice(0, -1).map(Number)))
      child.kill("SIGKILL")
    })
  return { pid: child.pid, until, kill }
})

const inDirectory = <A, E>(directory: string, effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.provide(effect, Pglite.layer({ directory }))

const one = SqlClient.SqlClient.use((sql) => sql`select 1 as one`)

/** MiB that are in use once all garbage is collected. */
const used = () => {
  v8.setFlagsFromString("--expose-gc")
  vm.runInNewContext("gc")()
  return process.memoryUsage().heapUsed / 2 ** 20
}

describe("Pglite", () => {
  layer(pglite)((it) => {
    it.effect("keeps nothing of what it has answered", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const ask = Effect.replicateEffect(sql`select repeat('x', 100000) as text`, 100, { discard: true })
        yield* ask
        const before = used()
        yield* Effect.andThen(ask, ask)
        expect(used() - before).toBeLessThan(10)
      }))
  })

  it.live("refuses a directory that another process holds, and says which and what to do", () =>
    Effect.gen(function*() {
      const directory = yield* opened
      const other = yield* holder(directory)
      yield* Effect.promise(() => other.until(1))
      const refusal = yield* Effect.flip(inDirectory(directory, one))
      expect(refusal).toBeInstanceOf(DirectoryLock.DirectoryInUse)
      expect(refusal.message).toBe(
        `The directory ${directory} is in use by process ${other.pid}: stop it, or choose another directory.`
      )
      yield* Effect.promise(() => other.kill())
      expect(yield* inDirectory(directory, one)).toEqual([{ one: 1 }])
    }))

  it.live("keeps every acknowledged commit of a process that is killed, and frees its directory", () =>
    Effect.gen(function*() {
      const directory = yield* opened
      const other = yield* holder(directory)
      yield* Effect.promise(() => other.until(300))
      const acknowledged = yield* Effect.promise(() => other.kill())
      const rows = yield* inDirectory(
        directory,
        SqlClient.SqlClient.use((sql) => sql<{ id: number }>`select id from entry`)
      )
      const kept = new Set(rows.map((row) => row.id))
      expect(acknowledged.length).toBeGreaterThanOrEqual(300)
      expect(acknowledged.filter((id) => !kept.has(id))).toEqual([])
    }))

  it.live("is held once in a process, too, and free again when its scope closes", () =>
    Effect.gen(function*() {
      const directory = yield* opened
      expect(yield* inDirectory(directory, Effect.flip(inDirectory(directory, one)))).toBeInstanceOf(
        DirectoryLock.DirectoryInUse
      )
      expect(yield* inDirectory(directory, one)).toEqual([{ one: 1 }])
    }))

  it.live("starts anew after a first start that was cut short, closed to others in a directory that keeps its mode", () =>
    Effect.gen(function*() {
      const directory = yield* folder
      fs.chmodSync(directory, 0o755)
      fs.mkdirSync(path.join(directory, "database.new"))
      fs.writeFileSync(path.join(directory, "database.new", "PG_VERSION"), "18\n")
      expect(yield* inDirectory(directory, one)).toEqual([{ one: 1 }])
      expect(fs.readdirSync(directory).sort()).toEqual(["console.lock", "database"])
      const mode = (name: string) => fs.statSync(path.join(directory, name)).mode & 0o777
      expect([mode("."), mode("database"), mode("console.lock")]).toEqual([0o755, 0o700, 0o600])
    }))

  it.live("makes its directory for its own user alone, and refuses one that every user may write in", () =>
    Effect.gen(function*() {
      const open = yield* folder
      const made = path.join(open, "made", "below")
      yield* Effect.scoped(DirectoryLock.acquire(made))
      const mode = (directory: string) => fs.statSync(directory).mode & 0o777
      expect([mode(path.dirname(made)), mode(made)]).toEqual([0o700, 0o700])
      fs.chmodSync(open, 0o777)
      const refused = yield* Effect.flip(Effect.scoped(DirectoryLock.acquire(open)))
      expect(refused).toBeInstanceOf(DirectoryLock.DirectoryOpen)
      expect(refused.message).toMatch(/^Every user of this machine may write in the directory/)
      expect([mode(open), fs.readdirSync(open)]).toEqual([0o777, ["made"]])
    }))

  it.live("has each commit on disk before it is acknowledged", () =>
    Effect.gen(function*() {
      const directory = yield* opened
      const original = fs.fsyncSync
      let synced = 0
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          const counting: typeof original = (fd) => {
            synced++
            original(fd)
          }
          Object.assign(builtinFs, { fsyncSync: counting })
          syncBuiltinESMExports()
        }),
        () =>
          Effect.sync(() => {
            Object.assign(builtinFs, { fsyncSync: original })
            syncBuiltinESMExports()
          })
      )
      yield* inDirectory(
        directory,
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          yield* asOwner((sql) =>
            Effect.andThen(sql`create table entry (id int8)`, sql`grant insert on entry to console_service`)
          )
          for (let id = 1; id <= 5; id++) {
            const before = synced
            yield* sql`insert into entry values (${id})`
            expect(synced).toBeGreaterThan(before)
          }
          const before = synced
          yield* sql.withTransaction(Effect.gen(function*() {
            yield* sql`insert into entry values (6)`
            expect(synced).toBe(before)
          }))
          expect(synced).toBeGreaterThan(before)
        })
      )
    }))

  it.live("keeps its session over transactions that only read", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`select set_config('console.mark', 'here', false)`
      yield* Tenant.transaction(sql, "acme", { access: "read" })(sql`select 1`)
      expect(yield* sql`select current_setting('console.mark', true) as mark`).toEqual([{ mark: "here" }])
    }).pipe(Effect.provide(pglite)))

  it.live("fails statements, and not the process, once it is closed", () =>
    Effect.gen(function*() {
      const sql = yield* inDirectory(yield* opened, SqlClient.SqlClient)
      const exit = yield* Effect.exit(sql`select 1`)
      expect(Exit.isFailure(exit)).toBe(true)
    }))
})
