/** One process per directory, by a lock of the operating system that dies with its holder. */
import { Effect, Predicate, Schedule, Schema } from "effect"
import * as fs from "node:fs"
import { createRequire } from "node:module"
import * as path from "node:path"

/** Another process holds the directory; the message is the line that the start ends with. */
export class DirectoryInUse extends Schema.TaggedError<DirectoryInUse>()("DirectoryInUse", {
  directory: Schema.String,
  holder: Schema.NullOr(Schema.Int)
}) {
  override get message(): string {
    const holder = this.holder === null ? "another process" : `process ${this.holder}`
    return `The directory ${this.directory} is in use by ${holder}: stop it, or choose another directory.`
  }
}

/** Every user of the machine may change what is in the directory. */
export class DirectoryOpen extends Schema.TaggedError<DirectoryOpen>()("DirectoryOpen", {
  directory: Schema.String
}) {
  override get message(): string {
    return `Every user of this machine may write in the directory ${this.directory}: choose a directory inside it, ` +
      `which is then made closed, or close it with chmod 700.`
  }
}

/** The mode of a directory that was there before, which the service never changes; Windows has no such modes. */
const modeOf = (directory: string): number => process.platform === "win32" ? 0o700 : fs.statSync(directory).mode & 0o777

/** The two functions of `fs-native-extensions`, which carries no types. */
interface FileLocks {
  readonly tryLock: (fd: number) => boolean
  readonly unlock: (fd: number) => void
}

const locks: FileLocks = createRequire(import.meta.url)("fs-native-extensions")

const fileOf = (directory: string) => path.join(directory, "console.lock")

const readHolder = (file: string): number | null => {
  const pid = Number.parseInt(fs.readFileSync(file, "utf8"), 10)
  return Number.isSafeInteger(pid) ? pid : null
}

const isRefusedWith = (code: string, cause: unknown): boolean =>
  Predicate.hasProperty(cause, "code") && cause.code === code

/** Makes the directory and those missing above it: `recursive` of `mkdirSync` never returns where /proc refuses one. */
const makeDirectory = (directory: string): void => {
  const parent = path.dirname(directory)
  try {
    fs.mkdirSync(directory, { mode: 0o700 })
  } catch (cause) {
    if (isRefusedWith("EEXIST", cause) && fs.statSync(directory).isDirectory()) return
    if (!isRefusedWith("ENOENT", cause) || fs.existsSync(parent)) throw cause
    makeDirectory(parent)
    fs.mkdirSync(directory, { mode: 0o700 })
  }
}

/** True if the last holder has released the directory, and no other process has taken it since. */
export const isLetGo = (directory: string): boolean => {
  const file = fileOf(path.resolve(directory))
  return fs.existsSync(file) && readHolder(file) === null
}

/** True if another try is to be made while another process holds the directory. */
export type WhenInUse = (inUse: DirectoryInUse) => Effect.Effect<boolean>

/**
 * Holds `console.lock` in the directory until the scope closes; creates the directory, closed to other users.
 *
 * A directory that was there keeps its mode: one that everybody may write in is refused.
 *
 * The holder's pid is written into the file for the reader of the message; it decides nothing.
 *
 * Where another process holds the directory, `whenInUse` says whether to try again a moment later.
 */
export const acquire = Effect.fnUntraced(
  function*(directory: string, whenInUse: WhenInUse = () => Effect.succeed(false)) {
    const absolute = path.resolve(directory)
    makeDirectory(absolute)
    const mode = modeOf(absolute)
    if ((mode & 0o002) !== 0) return yield* new DirectoryOpen({ directory: absolute })
    const lock = Effect.acquireRelease(
      Effect.suspend(() => {
        const file = fileOf(absolute)
        const fd = fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600)
        if (!locks.tryLock(fd)) {
          fs.closeSync(fd)
          return Effect.fail(new DirectoryInUse({ directory: absolute, holder: readHolder(file) }))
        }
        fs.ftruncateSync(fd)
        fs.writeSync(fd, `${process.pid}\n`, 0)
        return Effect.succeed(fd)
      }),
      (fd) =>
        Effect.sync(() => {
          fs.ftruncateSync(fd)
          locks.unlock(fd)
          fs.closeSync(fd)
        })
    )
    yield* Effect.retry(lock, { while: whenInUse, schedule: Schedule.spaced("100 millis") })
    if ((mode & 0o077) !== 0) {
      yield* Effect.logWarning(
        `Other users may look into the directory ${absolute} (mode ${mode.toString(8)}): close it with chmod 700`
      )
    }
    return absolute
  }
)
