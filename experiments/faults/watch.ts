/** What watches the accounts is killed, cut off or set back while strangers are found and signed out. */
import type { Service } from "../../test/support/cli/commandProcess.ts"
import type { Fault } from "./fault.ts"
import { onDirectory, onPostgres, pause, type PostgresStage, type Stage } from "./stage.ts"
import { answers, strangersCome, type Trouble } from "./strangers.ts"

/** Runs an experiment on a stage, which is removed in any case. */
const on = async <S extends Stage, A>(made: Promise<S>, run: (stage: S) => Promise<A>): Promise<A> => {
  const stage = await made
  try {
    return await run(stage)
  } finally {
    await stage.remove()
  }
}

/** Somewhere in the next half second. */
const soon = () => pause(Math.random() * 500)

/** The messenger is away, asks to wait, or does what it is asked while its answer is lost. */
const moods = [
  { found: null, "signed out": ["sign_out", { _tag: "Lost" }, 0.5] },
  {
    found: ["authorizations", { _tag: "Unavailable" }, 2],
    "signed out": ["sign_out", { _tag: "Busy", seconds: 5 }, 1]
  },
  { found: ["authorizations", { _tag: "Busy", seconds: 5 }, 1], "signed out": ["sign_out", { _tag: "Unavailable" }, 1] }
] as const

/** The process or PostgreSQL is killed. */
export const killed: Fault = ({ rounds = 6 }) =>
  on(onPostgres(1), async (stage) => {
    let service = await stage.serve()
    let turn = 0
    const mood = async (what: "found" | "signed out", round: number) => {
      const said = moods[round % moods.length]?.[what]
      if (said === null || said === undefined) return
      const [operation, answer, each] = said
      await stage.within((query) => answers(query, operation, answer, Math.ceil(each * stage.live.length)))
    }
    return strangersCome(
      {
        stage,
        within: stage.within,
        before: mood,
        during: async () => {
          await soon()
          if (turn++ % 3 === 1) {
            await stage.server.kill()
            await stage.server.start()
          } else {
            await service.stop("SIGKILL")
            service = await stage.serve()
          }
        },
        stop: () => service.stop()
      },
      rounds,
      "The process that watches, or PostgreSQL, killed while strangers are found and signed out, by a messenger that is away, asks to wait or loses its answers"
    )
  })

/** Every moment that is stored of the watch, a minute earlier: as if one had passed. */
const times = {
  monitor: [
    "next_at",
    "due_at",
    "look_at",
    "started_at",
    "last_polled_at",
    "last_ok_at",
    "first_failure_at",
    "flood_until",
    "sign_out_retry_at"
  ],
  session: ["review_deadline", "seen_at", "created_at", "queued_at", "ending_at"],
  service_session: ["created_at"],
  simulated_authorization: ["created_at", "last_active_at", "signed_in_at"],
  account: ["connected_at", "enforcement_active_at"]
}
const aMinutePasses = Object.entries(times).map(([table, columns]) =>
  `update ${table} set ${columns.map((column) => `${column} = ${column} - interval '1 minute'`).join(", ")}`
)

/** The messenger answers nothing for a quarter of an hour; each minute is a second and a half of the experiment. */
export const away: Fault = ({ rounds = 2 }) =>
  on(onPostgres(1), async (stage) => {
    const service = await stage.serve()
    return strangersCome(
      {
        stage,
        within: stage.within,
        before: () =>
          stage.within(async (query) => void await answers(query, null, { _tag: "Unavailable" }, 1_000_000)),
        during: async () => {
          for (let minute = 0; minute < 15; minute++) {
            await pause(1500)
            await stage.within(async (query) => {
              for (const statement of aMinutePasses) await query(statement)
            })
          }
          await stage.within((query) => query("delete from simulated_script"))
        },
        stop: () => service.stop()
      },
      rounds,
      "The messenger away for 15 minutes, of 1.5 s each: all stored times are set back by a minute"
    )
  })

/** The wall clock of the process is stepped. */
export const stepped: Fault = ({ rounds = 3 }) =>
  on(onPostgres(1), async (stage) => {
    const service = await stage.serve([], ["--import", new URL("steppedClock.ts", import.meta.url).href])
    return strangersCome(
      {
        stage,
        within: stage.within,
        during: async () => {
          await soon()
          service.signal("SIGUSR2")
        },
        stop: () => service.stop()
      },
      rounds,
      "The wall clock of the process that watches an hour ahead, an hour behind, and right again"
    )
  })

/** The process on the embedded database is killed. */
export const directory: Fault = ({ rounds = 4 }) =>
  on(onDirectory(1), async (stage) => {
    let service: Service | undefined
    const serve = async () => void (service = await stage.serve())
    const stop = async (signal?: "SIGKILL") => {
      await service?.stop(signal)
      service = undefined
    }
    const within: Stage["within"] = async (work) => {
      await stop()
      const answer = await stage.within(work)
      await serve()
      return answer
    }
    return strangersCome(
      {
        stage,
        within,
        during: async () => {
          await soon()
          await stop("SIGKILL")
          await serve()
        },
        stop,
        every: 4000
      },
      rounds,
      "The process with the embedded database killed while strangers are found and signed out"
    )
  })

/** Of two processes the one that watches is killed or stopped, and the other one takes over. */
export const pair: Fault = ({ rounds = 3 }) =>
  on(onPostgres(1), async (stage) => {
    const services = [await stage.serve(), await stage.serve()]
    let turn = 0
    return strangersCome(
      {
        stage,
        within: stage.within,
        during: async () => {
          await soon()
          const place = turn % 2
          await services[place]?.stop(turn++ % 3 === 2 ? "SIGTERM" : "SIGKILL")
          services[place] = await stage.serve()
        },
        stop: () => Promise.all(services.map((service) => service.stop()))
      },
      rounds,
      "Of two processes the one that watches killed or stopped while strangers are found and signed out"
    )
  })

/** What a killed process holds is free, as it is by itself after half a minute. */
const letGo = [
  "delete from cluster_locks",
  "update monitor set busy_until = null, busy_by = null"
]

/** The process dies with the n-th message that it sends, of those that find strangers or sign them out. */
const dying = (stage: PostgresStage): Trouble => {
  let service: Service | undefined
  let phases = 0
  const serve = async () => {
    const dies = new URL("dying.ts", import.meta.url)
    dies.searchParams.set("after", String(1 + 2 * Math.floor(phases++ / 2)))
    service = await stage.serve([], ["--import", dies.href])
  }
  return {
    stage,
    within: stage.within,
    before: async () => {
      if (service === undefined) await serve()
      service?.signal("SIGUSR2")
    },
    during: async () => {
      await Promise.race([service?.ended, pause(4000)])
      await service?.stop("SIGKILL")
      await stage.within(async (query) => {
        for (const statement of letGo) await query(statement)
      })
      await serve()
    },
    stop: async () => service?.stop()
  }
}

/** The process is killed at each of its messages to the database. */
export const crashes: Fault = ({ rounds = 12 }) =>
  on(onPostgres(1), (stage) =>
    strangersCome(
      dying(stage),
      rounds,
      "The process that watches killed after the first, third, fifth and so on of the messages that it sends"
    ))
