/** The list of all background work, and how often it is done. */
import { Effect, Option, Struct } from "effect"
import { longestPause, shortestPause } from "./Cadence.ts"
import { Engine } from "./Engine.ts"
import type { Declared, Job, Work } from "./Job.ts"
import { LoginEndings } from "./Logins.ts"
import { type PushTarget, Upkeep, upkeepJobs } from "./Upkeep.ts"

/** The job that begins the looks at accounts. */
export const watchAccounts = "watch_accounts"

/** What a process does that has the messenger, with the service that does it. */
type Worked<Service> = Readonly<Record<string, Declared & { readonly work: (service: Service) => Work }>>

/** What watches accounts. */
const watchJobs: Worked<Engine["Service"]> = {
  [watchAccounts]: {
    period: longestPause,
    least: shortestPause,
    does:
      "looks at the accounts that are due: more often where many are, and at once when a deadline comes, the messenger tells of a change, or a request of the same process asks for it",
    work: ({ claim, pause }) => ({ run: claim, pause })
  },
  secure_accounts: {
    period: "5 seconds",
    does:
      "does on the messenger what is due without a request: a new 2FA password after a takeover, a new second session, taking back what a change left half done, logging out sessions that are no longer needed",
    work: ({ secure }) => ({ run: secure })
  },
  close_sessions: {
    period: "1 minute",
    does: "closes connections to the messenger of accounts that are not watched any more",
    work: ({ closeUnwatched }) => ({ run: closeUnwatched })
  }
}

/** What ends logins. */
const loginJobs: Worked<LoginEndings["Service"]> = {
  end_logins: {
    period: "1 minute",
    does: "ends logins that are over, and those whose step a crash cut off",
    work: ({ end }) => ({ run: end })
  }
}

/** A job as the documents list it. */
export interface Documented extends Declared {
  readonly name: string
  /** Whether it is done in a process with the role `worker` alone. */
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
        .filter((name) => name !== "notice_silence" || (watched ?? Option.isSome(engine)))
        .flatMap((name) => upkeepJob(name, upkeep[name]))
    ]
  )
