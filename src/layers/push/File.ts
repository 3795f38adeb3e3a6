/** Checkpoints in a file that only grows, one a line, on the disk before they count as pushed. */
import { Effect } from "effect"
import * as fs from "node:fs/promises"
import * as path from "node:path"
import type { PushTarget } from "../../ports/journal/CheckpointQueue.ts"
import { lines, notTaken } from "./Target.ts"

const newline = 10

/** True if a write was torn at the end of the file, so that the next line needs a start of its own. */
const isTorn = async (file: string): Promise<boolean> => {
  const handle = await fs.open(file, "r")
  try {
    const { size } = await handle.stat()
    if (size === 0) return false
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1)
    return buffer[0] !== newline
  } finally {
    await handle.close()
  }
}

/** A file that was just made is there after a power failure once its directory is written too. */
const keepEntry = async (file: string): Promise<void> => {
  if (process.platform === "win32") return
  const directory = await fs.open(path.dirname(file), "r")
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

const append = async (file: string, texts: ReadonlyArray<string>): Promise<void> => {
  const handle = await fs.open(file, "a", 0o600)
  try {
    const start = (await isTorn(file)) ? "\n" : ""
    await handle.appendFile(`${start}${texts.join("\n")}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await keepEntry(file)
}

/** The file, made with mode 0600 where it is not there; it may be one that can only be appended to. */
export const target = (file: string): PushTarget => ({
  name: `file:${file}`,
  send: (checkpoints) =>
    Effect.flatMap(lines(checkpoints), (texts) =>
      // A begun write is ended: a second one must not start in the middle of it.
      Effect.uninterruptible(Effect.tryPromise({ try: () => append(file, texts), catch: notTaken })))
})
