/** The list of all background work, and how often it is done. */
import { Effect, Option, Struct } from "effect"
import { longestPause, shortestPause } from "../protection/Cadence.ts"
import { LoginEndings } from "../protection/LoginEndings.ts"
import { Engine } from "../protection/PollLoop.ts"
import type { Declared, Job, Work } from "./Job.ts"
import { type PushTarget, Upkeep, upkeepJobs } from "./Maintenance.ts"

/** The job that begins the polls of accounts. */
export const watchAccounts = "watch_accounts"

/** The jobs of a service whose accounts are to be watched, by this process or by another one. */
const aboutWorkers: ReadonlyArray<string> = ["notice_silence", "notice_no_worker"] satisfies ReadonlyArray<
  keyof typeof upkeepJobs
>

/** The jobs of a process that has the messenger, with the service that does them. */
type Worked<Service> = Readonly<Record<string, Declared & { readonly work: (service: Service) => Work }>>

/** The jobs that watch accounts. */
const watchJobs: Worked<Engine["Service"]> = {
  [watchAccounts]: {
    period: longestPause,
    least: shortestPause,
    does:
      "looks at the accounts that are due: more often if there are many, and at once at a deadline, after a push from the messenger, or on a request to the same process",
    work: ({ claim, pause }) => ({ run: claim, pause })
  },
  secure_accounts: {
    period: "5 seconds",
    does:
      "makes changes on the messenger that are due without a request: sets a new 2FA password after a takeover, makes a new second session, undoes changes that were left half done, logs out sessions that are no longer needed",
    work: ({ secure }) => ({ run: secure })
  },
  close_sessions: {
    period: "1 minute",
    does: "closes connections to the messenger for accounts that are no longer watched",
    work: ({ closeUnwatched }) => ({ run: closeUnwatched })
  }
}

/** The jobs that end logins. */
const loginJobs: Worked<LoginEndings["Service"]> = {
  end_logins: {
    period: "1 minute",
    does: "ends logins that have expired, and those with a step that a crash interrupted",
    work: ({ end }) => ({ run: end })
  }
}

/** A job as the documents list it. */
export interface Documented extends Declared {
  readonly name: string
  /** True if it is done in a process with the role `worker` alone. */
  readonly worker: boolean
}

const listed = (jobs: Readonly<Record<string, Declared>>, worker: boolean): ReadonlyArray<Documented> =>
  Object.entries(jobs).map(([name, declared]) => ({ ...declared, name, worker }))

/** Every job that there is. */
export const documented: ReadonlyArray<Documented> = [
  ...listed(watchJobs, true),
  ...listed(loginJobs, true),
  ...listed(upkeepJobs, false)
]

const worked = <Service>(jobs: Worked<Service>, service: Option.Option<Service>): ReadonlyArray<Job> =>
  Option.match(service, {
    onNone: () => [],
    onSome: (service) => Object.entries(jobs).map(([name, { period, work }]) => ({ name, period, ...work(service) }))
  })

const upkeepJob = (name: keyof typeof upkeepJobs, work: Work | ReadonlyArray<PushTarget>): ReadonlyArray<Job> => {
  const { period } = upkeepJobs[name]
  return "run" in work
    ? [{ name, period, ...work }]
    : work.map((target) => ({ ...target, name: `${name} ${target.name}`, period }))
}

/**
 * Every job of this process; `watched` says whether accounts are to be watched, as by default where this process does.
 */
export const jobs = (watched?: boolean): Effect.Effect<ReadonlyArray<Job>, never, Upkeep> =>
  Effect.map(
    Effect.all([Effect.serviceOption(Engine), Effect.serviceOption(LoginEndings), Upkeep]),
    ([engine, endings, upkeep]) => [
      ...worked(watchJobs, engine),
      ...worked(loginJobs, endings),
      ...Struct.keys(upkeepJobs)
        // That nobody watches is noticed by every process of a service whose accounts are to be watched.
        .filter((name) => !aboutWorkers.includes(name) || (watched ?? Option.isSome(engine)))
        .flatMap((name) => upkeepJob(name, upkeep[name]))
    ]
  )
