/** Where tests keep files that need not outlive the machine. */
import * as fs from "node:fs"
import * as os from "node:os"

/** A file system in memory, where the system has one. */
const memory = "/dev/shm"

const enough = 4 * 1024 ** 3

const isThere = (): boolean => {
  try {
    fs.accessSync(memory, fs.constants.W_OK)
    const { bavail, bsize } = fs.statfsSync(memory)
    return bavail * bsize > enough
  } catch {
    return false
  }
}

/**
 * The folder for databases of tests that are not about disks: in memory where there is much room, as copying a database
 * and removing it takes a disk's file system several times the processor.
 */
export const scratch: string = isThere() ? memory : os.tmpdir()
