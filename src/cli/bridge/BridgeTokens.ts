/**
 * The tokens of the bridge's connection, in a file of the user's own configuration that nobody else may read.
 *
 * A refresh token is good once: processes of one user refresh in turn, under a lock, and each looks first whether another
 * has done it already.
 */
import { Clock, Effect, Option, Schedule, Schema } from "effect"
import * as crypto from "node:crypto"
import * as fs from "node:fs"
import { createRequire } from "node:module"
import * as os from "node:os"
import * as path from "node:path"

const Stored = Schema.fromJsonString(Schema.Struct({
  client_id: Schema.String,
  access_token: Schema.String,
  refresh_token: Schema.String,
  /** Milliseconds since the epoch. */
  expires_at: Schema.Finite
}))
export type StoredTokens = typeof Stored.Type

const decode = Schema.decodeUnknownOption(Stored)
const encode = Schema.encodeSync(Stored)

/** The two functions of `fs-native-extensions`, which carries no types. */
interface FileLocks {
  readonly tryLock: (fd: number) => boolean
  readonly unlock: (fd: number) => void
}

const locks: FileLocks = createRequire(import.meta.url)("fs-native-extensions")

/** The folder of the user's configuration, as the system has it. */
const configuration = (variables: Readonly<Record<string, string | undefined>>): string =>
  process.platform === "win32"
    ? variables["APPDATA"] ?? path.join(os.homedir(), "AppData", "Roaming")
    : process.platform === "darwin"
    ? path.join(os.homedir(), "Library", "Application Support")
    : variables["XDG_CONFIG_HOME"] || path.join(os.homedir(), ".config")

/** The file of a service's connection. */
export const fileFor = (url: string): string => {
  const name = crypto.createHash("sha256").update(url).digest("hex").slice(0, 16)
  return path.join(configuration(process.env), "security-console", `bridge-${name}.json`)
}

export const read = (file: string): Option.Option<StoredTokens> => {
  try {
    return decode(fs.readFileSync(file, "utf8"))
  } catch {
    return Option.none()
  }
}

/** Replaces the file as a whole: a crash leaves the one before. */
export const write = (file: string, tokens: StoredTokens): void => {
  const next = `${file}.${process.pid}.new`
  const fd = fs.openSync(next, "w", 0o600)
  try {
    fs.writeSync(fd, encode(tokens))
    fs.fsyncSync(fd)
  } finally {
    fs.closeSync(fd)
  }
  fs.renameSync(next, file)
}

export const remove = (file: string): void => fs.rmSync(file, { force: true })

/** Another process refreshes within a second. */
const lockTries = Schedule.spaced("50 millis")

/** Runs the effect while no other process of the user does. */
export const locked = <A, E, R>(file: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    Effect.gen(function*() {
      fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
      const fd = fs.openSync(`${file}.lock`, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600)
      yield* Effect.onInterrupt(
        Effect.suspend(() => locks.tryLock(fd) ? Effect.void : Effect.fail("held")).pipe(
          Effect.retry({ schedule: lockTries }),
          Effect.orDie
        ),
        () => Effect.sync(() => fs.closeSync(fd))
      )
      return fd
    }),
    () => effect,
    (fd) =>
      Effect.sync(() => {
        locks.unlock(fd)
        fs.closeSync(fd)
      })
  )

/** Milliseconds before its end that an access token is renewed. */
const early = 60_000

/** True if the access token can be used now. */
export const isGood = (tokens: StoredTokens): Effect.Effect<boolean> =>
  Effect.map(Clock.currentTimeMillis, (now) => now < tokens.expires_at - early)
