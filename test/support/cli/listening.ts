/** The ports of processes, as Linux lists them. */
import * as fs from "node:fs"
import * as path from "node:path"

/** The state of a socket that listens, in `/proc/net/tcp`. */
const listen = "0A"

/** True if the process listens at the port on an IPv4 address. */
export const listensAt = (pid: number, port: number): boolean => {
  const wanted = port.toString(16).toUpperCase().padStart(4, "0")
  const sockets = fs.readFileSync("/proc/net/tcp", "utf8").split("\n").flatMap((line) => {
    const [, local, , state, , , , , , inode] = line.trim().split(/ +/)
    return local?.endsWith(`:${wanted}`) === true && state === listen ? [`socket:[${inode}]`] : []
  })
  const folder = `/proc/${pid}/fd`
  return fs.readdirSync(folder).some((name) => {
    try {
      return sockets.includes(fs.readlinkSync(path.join(folder, name)))
    } catch {
      // It was closed meanwhile.
      return false
    }
  })
}
