/** The disk of the database is full while the service writes, and then has room again. */
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import type { Service } from "../../test/support/cli/commandProcess.ts"
import * as Clients from "./clients.ts"
import { answers, type Fault, type Report, unmet } from "./fault.ts"
import { type Attempt, judge } from "./ledger.ts"
import { onDirectory, onPostgres, pause, type Stage } from "./stage.ts"

const writers = 4

/** A small disk of its own; undefined where the system lets nobody mount one. */
export const smallDisk = (megabytes: number): string | undefined => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "faults-disk-"))
  try {
    childProcess.execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=0777`, "none", folder], {
      stdio: "ignore"
    })
    return folder
  } catch {
    fs.rmdirSync(folder)
    return undefined
  }
}

export const unmount = (folder: string) => {
  childProcess.execFileSync("umount", ["-l", folder])
  fs.rmdirSync(folder)
}

/** Writes into one file until nothing fits any more; its path. */
export const fill = (folder: string): string => {
  const ballast = path.join(folder, "ballast")
  const file = fs.openSync(ballast, "a")
  try {
    for (const size of [1 << 20, 4096]) {
      try {
        for (;;) fs.writeSync(file, Buffer.alloc(size))
      } catch {
        // Full, to blocks of this size.
      }
    }
  } finally {
    fs.closeSync(file)
  }
  return ballast
}

const notTried = (what: string): Report => ({
  done: what,
  verdict: undefined,
  seen: "not tried: no permission to mount a small disk",
  failed: []
})

interface Disk {
  readonly stage: Stage
  readonly folder: string
  readonly what: string
  /** Makes the database need more room than there is. */
  readonly press: () => Promise<unknown>
  /** Starts the database again where the full disk ended it. */
  readonly revive: () => Promise<boolean>
}

const tried = async ({ folder, press, revive, stage, what }: Disk, rounds: number): Promise<Report> => {
  const attempts: Array<Attempt> = []
  let service: Service = await stage.serve()
  let ended = 0
  let revived = 0
  const full: Array<Attempt> = []
  for (let round = 0; round < rounds; round++) {
    const alive = { yes: true }
    void service.ended.then(() => alive.yes = false)
    const clients = Clients.start(stage, {
      name: `d${round}`,
      accounts: stage.plain.slice(round * writers, (round + 1) * writers),
      address: () => service.address,
      attempts
    })
    await clients.more(40)
    const ballast = fill(folder)
    const from = attempts.length
    await press()
    for (const end = Date.now() + 30_000; Date.now() < end && alive.yes;) {
      if (attempts.slice(from).filter(({ outcome }) => outcome === "unknown").length >= 40) break
      await pause(20)
    }
    full.push(...attempts.slice(from))
    fs.rmSync(ballast)
    await pause(500)
    if (await revive()) revived += 1
    if (!alive.yes) {
      await clients.stop()
      ended += 1
      service = await stage.serve()
      await Clients.recovered(stage, service.address)
    } else {
      await Clients.recovered(stage, service.address)
      await clients.more(10)
      await clients.stop()
    }
  }
  await service.stop()
  return {
    done: what,
    verdict: judge(attempts, await stage.settle()),
    seen: `while it was full: ${answers(full)}; with room again ${
      ended === 0 ? "the service went on by itself" : `the service had ended ${ended} times and was started again`
    }${revived === 0 ? "" : `; PostgreSQL itself had ended ${revived} times and was started again`}`,
    failed: unmet({
      "the full disk was felt": full.some(({ outcome }) => outcome === "unknown"),
      [`answers are 2xx, 503 or cut: ${answers(attempts)}`]: attempts.every(({ outcome, status }) =>
        outcome === "acknowledged" || status === 503 || status === 0
      )
    })
  }
}

export const fullPostgres: Fault = async ({ rounds = 3 }) => {
  const what = `The disk of PostgreSQL full during writes, ${rounds} times`
  const folder = smallDisk(400)
  if (folder === undefined) return notTried(what)
  try {
    const stage = await onPostgres(rounds * writers, folder)
    const runs = () => stage.within(() => Promise.resolve(true)).catch(() => false)
    try {
      return await tried({
        stage,
        folder,
        what,
        press: () => stage.within((query) => query("select pg_switch_wal()")).catch(() => {}),
        revive: async () => {
          for (const end = Date.now() + 5000; Date.now() < end;) {
            if (await runs()) return false
            await pause(200)
          }
          await stage.server.stop()
          await stage.server.start()
          return true
        }
      }, rounds)
    } finally {
      await stage.remove()
    }
  } finally {
    unmount(folder)
  }
}

export const fullDirectory: Fault = async ({ rounds = 3 }) => {
  const what = `The disk of the embedded database full during writes, ${rounds} times`
  const folder = smallDisk(200)
  if (folder === undefined) return notTried(what)
  try {
    const stage = await onDirectory(rounds * writers, folder)
    return await tried({
      stage,
      folder,
      what,
      press: () => Promise.resolve(),
      revive: () => Promise.resolve(false)
    }, rounds)
  } finally {
    unmount(folder)
  }
}
