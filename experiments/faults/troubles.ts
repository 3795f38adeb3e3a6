/** What happens to several processes that serve and watch. */
import type { Crowd, Member } from "./crowd.ts"
import { pause } from "./stage.ts"

export interface Trouble {
  /** Breaks something, and mends it. */
  readonly happen: (crowd: Crowd, victim: Member) => Promise<unknown>
  /** True if the victim hears nothing from the beginning, though its connections may be open. */
  readonly deaf?: boolean
}

const restart = async ({ start }: Crowd, victim: Member, signal: "SIGKILL" | "SIGTERM") => {
  const { service } = victim
  victim.service = undefined
  await service?.stop(signal)
  await pause(Math.random() * 20_000)
  await start(victim)
}

/** It is away from the moment that it ends the sessions. */
const away = async ({ stage }: Crowd, seconds: number) => {
  const over = pause(seconds * 1000)
  await stage.server.stop()
  await over
  await stage.server.start()
}

/** Everything that is tried, each as often as the others. */
export const troubles: Readonly<Record<string, Trouble>> = {
  "killed": { happen: (crowd, victim) => restart(crowd, victim, "SIGKILL"), deaf: true },
  "stopped": { happen: (crowd, victim) => restart(crowd, victim, "SIGTERM") },
  "frozen for 30 s": {
    happen: async (_, { service }) => {
      service?.signal("SIGSTOP")
      await pause(30_000)
      service?.signal("SIGCONT")
    },
    deaf: true
  },
  "cut off from PostgreSQL for 40 s": {
    happen: async (_, { way }) => {
      way.freeze()
      await pause(40_000)
      way.thaw()
    },
    deaf: true
  },
  "unheard by the others for 20 s": {
    happen: async (_, { service }) => {
      service?.signal("SIGHUP")
      await pause(20_000)
      service?.signal("SIGHUP")
    }
  },
  "PostgreSQL away for 5 s": { happen: (crowd) => away(crowd, 5) },
  "PostgreSQL away for 20 s": { happen: (crowd) => away(crowd, 20) },
  "the wall clock an hour ahead, an hour behind, and right": {
    happen: async (_, { service }) => {
      for (let step = 0; step < 3; step++) {
        service?.signal("SIGUSR2")
        await pause(5000)
      }
    }
  },
  "all stopped and started in turn": {
    happen: async (crowd) => {
      for (const member of crowd.members) {
        const { service } = member
        member.service = undefined
        await service?.stop("SIGTERM")
        await crowd.start(member)
      }
    }
  },
  "two more, and gone again": {
    happen: async (crowd) => {
      const added = [await crowd.add(), await crowd.add()]
      await pause(15_000)
      for (const member of added) {
        crowd.members.splice(crowd.members.indexOf(member), 1)
        await member.service?.stop("SIGTERM")
        crowd.giveBack(member)
      }
    }
  }
}
