/** What happens to the accounts of an organization within two days: a row for each. */
import { type Effect, Redacted } from "effect"
import type { AccountStatus } from "../../src/domain/accounts/ProtectionStatus.ts"
import type { SimulatedPlatform } from "../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import type { makeWatched } from "../support/protection/watched.ts"
import type * as World from "../support/world.ts"

export const hour = 3_600_000
/** The first takeover is over by then. */
export const end = 49

type Watched = Effect.Success<ReturnType<typeof makeWatched>>

/** What somebody does, whatever comes of it. */
type Act = Effect.Effect<
  unknown,
  unknown,
  Effect.Services<ReturnType<typeof World.get>> | Effect.Services<ReturnType<typeof World.set>>
>

/** Who acts in a story: its account, and an admin of its organization. */
export interface Cast extends Watched {
  readonly platform: SimulatedPlatform["Service"]
  readonly pause: Act
  readonly resume: Act
  /** What an admin does with the one session that waits for its review. */
  readonly review: (what: "approve" | "sign-out") => Act
  /** Nobody looks at the account for so many hours. */
  readonly leave: (hours: number) => Act
  readonly offboard: Act
  /** An admin signs in to the account, for the first time or anew. */
  readonly signIn: (how: "connect" | "relogin") => Act
  /** The service loses the key of its session. */
  readonly loseKey: Act
  /** The organization's subscription becomes this. */
  readonly licence: (state: "active" | "lapsed") => Act
  /** An operator suspends the organization, or activates it. */
  readonly stand: (status: "active" | "suspended") => Act
}

/**
 * What happens to one account, at which hours, and what that makes of its status: a row of the table of transitions.
 */
interface Story {
  readonly name: string
  /** Connected as the two days begin. */
  readonly fresh?: boolean
  /**
   * The kind of organization: one that does not want accounts locked, whose licence ends, or that is suspended; another
   * one by default.
   */
  readonly of?: keyof typeof kinds
  readonly acts?: ReadonlyArray<readonly [at: number, act: (cast: Cast) => Act]>
  readonly seen: ReadonlyArray<AccountStatus>
  /** What the journal tells of it, besides what admins did. */
  readonly journaled: ReadonlyArray<string>
}

export const kinds = { locked: {}, open: { tamper_lockdown_enabled: false }, licensed: {}, suspended: {} }

const comes = ({ stranger }: Cast) => stranger
const thief = ({ platform, userId }: Cast) =>
  platform.changeSecurity(userId, { two_fa_password: Redacted.make("the thief's") })
const revoked = ({ revoke, sessionRef }: Cast) => revoke(sessionRef)
const pauses = ({ pause }: Cast) => pause
const resumes = ({ resume }: Cast) => resume

/** A takeover ends the thief's session and the holder's. */
const ended = ["session.signed_out", "session.signed_out"]

export const stories: ReadonlyArray<Story> = [
  { name: "24 hours pass", fresh: true, seen: ["recently_connected", "protected"], journaled: [] },
  {
    name: "a session is seen and approved",
    acts: [[1, comes], [3, ({ review }) => review("approve")]],
    seen: ["protected", "new_sign_in", "protected"],
    journaled: ["session.detected"]
  },
  {
    name: "a session comes to its deadline",
    acts: [[1, comes]],
    seen: ["protected", "new_sign_in", "protected"],
    journaled: ["session.detected", "session.autokilled"]
  },
  {
    name: "a session is signed out by an admin",
    acts: [[1, comes], [2, ({ review }) => review("sign-out")]],
    seen: ["protected", "new_sign_in", "protected"],
    journaled: ["session.detected"]
  },
  {
    name: "a session is signed out by an admin before the platform lets the service",
    fresh: true,
    acts: [[1, comes], [2, ({ review }) => review("sign-out")]],
    seen: ["recently_connected", "new_sign_in", "protected"],
    journaled: ["session.detected", "session.signed_out"]
  },
  {
    name: "a takeover is stopped, and 48 hours pass",
    acts: [[0, comes], [0.05, thief]],
    seen: ["protected", "new_sign_in", "hijack_blocked", "protected"],
    journaled: ["session.detected", "takeover.detected", ...ended, "takeover.stopped", "takeover.lock_expired"]
  },
  {
    name: "a takeover is detected before the platform lets the service sign anybody out",
    fresh: true,
    acts: [[1, comes], [2, thief]],
    seen: ["recently_connected", "new_sign_in", "hijack_blocked"],
    journaled: ["session.detected", "takeover.detected", ...ended, "takeover.stopped"]
  },
  {
    name: "a takeover is detected where nobody wants accounts locked",
    of: "open",
    acts: [[1, comes], [2, thief]],
    seen: ["protected", "new_sign_in", "protected"],
    journaled: ["session.detected", "takeover.detected", "session.autokilled"]
  },
  {
    name: "a takeover is stopped, and the account paused and resumed",
    acts: [[1, comes], [2, thief], [4, pauses], [5, resumes]],
    seen: ["protected", "new_sign_in", "hijack_blocked", "paused", "protected"],
    journaled: ["session.detected", "takeover.detected", ...ended, "takeover.stopped"]
  },
  {
    name: "polls fail, and one is good",
    acts: [[
      5,
      ({ platform, userId }) =>
        platform.script({ answer: { _tag: "Unavailable" }, operation: "authorizations", userId, times: 3 })
    ]],
    seen: ["protected", "status_unknown", "protected"],
    journaled: ["monitoring.lost", "monitoring.restored"]
  },
  {
    name: "nobody looks for ten minutes",
    acts: [[5, ({ leave }) => leave(3)]],
    seen: ["protected", "status_unknown", "protected"],
    journaled: ["monitoring.lost", "monitoring.restored"]
  },
  {
    name: "the service's key was used twice, and the account paused and resumed",
    acts: [[4, ({ platform, userId }) => platform.revokeService(userId, "key_duplicated")], [6, pauses], [8, resumes]],
    seen: ["protected", "status_unknown", "paused", "protected", "status_unknown"],
    journaled: ["monitoring.lost", "monitoring.lost"]
  },
  {
    name: "the service has lost its key, and an admin signs in anew",
    acts: [[4, ({ loseKey }) => loseKey], [8, ({ signIn }) => signIn("relogin")]],
    seen: ["protected", "status_unknown", "recently_connected", "protected"],
    journaled: ["monitoring.lost", "session.logged_out"]
  },
  {
    name: "the session is revoked where there is a second one",
    acts: [[0, ({ pair }) => pair], [4, revoked]],
    seen: ["protected"],
    journaled: ["monitoring.failed_over", "outside_change.detected", "paired_session.created"]
  },
  {
    name: "the session is revoked where there is none, and the account paused and resumed",
    acts: [[4, revoked], [20, pauses], [21, resumes]],
    seen: ["protected", "protection_stopped", "paused", "protected", "protection_stopped"],
    journaled: ["protection.stopped", "outside_change.detected", "protection.stopped"]
  },
  {
    name: "the session is revoked while a stranger is there",
    acts: [[1, comes], [4, revoked]],
    seen: ["protected", "new_sign_in", "protection_stopped"],
    journaled: ["session.detected", "protection.stopped", "takeover.detected"]
  },
  {
    name: "the platform deletes the account",
    fresh: true,
    acts: [[4, ({ platform, userId }) => platform.revokeService(userId, "deleted")]],
    seen: ["recently_connected", "protection_stopped"],
    journaled: ["protection.stopped"]
  },
  {
    name: "a pause withholds a deadline, and a resume gives a new one",
    acts: [[1, comes], [2, pauses], [20, resumes]],
    seen: ["protected", "new_sign_in", "paused", "protected", "new_sign_in", "protected"],
    journaled: ["session.detected", "session.autokilled"]
  },
  {
    name: "an account that was just connected is paused and resumed",
    fresh: true,
    acts: [[4, pauses], [5, resumes]],
    seen: ["recently_connected", "paused", "protected"],
    journaled: []
  },
  {
    name: "the account is offboarded and connected again",
    acts: [[1, ({ offboard }) => offboard], [2, ({ signIn }) => signIn("connect")]],
    seen: ["protected", "available", "recently_connected", "protected"],
    journaled: []
  },
  {
    name: "the session is revoked where there is none, and an admin signs in anew",
    acts: [[4, revoked], [6, ({ signIn }) => signIn("relogin")]],
    seen: ["protected", "protection_stopped", "recently_connected", "protected"],
    journaled: ["protection.stopped", "outside_change.detected"]
  },
  {
    name: "an admin signs in anew while the account is paused",
    acts: [[2, pauses], [4, ({ signIn }) => signIn("relogin")], [6, resumes]],
    seen: ["protected", "paused", "protected"],
    journaled: ["session.logged_out"]
  },
  {
    name: "a stranger is there when the licence ends, and still when it is back",
    of: "licensed",
    acts: [[1, comes], [3, ({ licence }) => licence("lapsed")], [20, ({ licence }) => licence("active")]],
    seen: ["protected", "new_sign_in", "protection_stopped", "new_sign_in", "protected"],
    journaled: ["session.detected", "protection.stopped", "protection.restored", "session.autokilled"]
  },
  {
    name: "a stranger is there when the organization is suspended, and still when it is active again",
    of: "suspended",
    acts: [[1, comes], [3, ({ stand }) => stand("suspended")], [20, ({ stand }) => stand("active")]],
    seen: ["protected", "new_sign_in", "protection_stopped", "new_sign_in", "protected"],
    journaled: ["session.detected", "protection.stopped", "protection.restored", "session.autokilled"]
  },
  {
    name: "the account is paused when the licence ends, and resumed when it is back",
    of: "licensed",
    acts: [[2, pauses], [30, resumes]],
    seen: ["protected", "paused", "protected"],
    journaled: ["protection.stopped", "protection.restored"]
  },
  {
    name: "the account is resumed while there is no licence",
    of: "licensed",
    acts: [[2, pauses], [5, resumes]],
    seen: ["protected", "paused", "protected", "protection_stopped", "protected"],
    journaled: ["protection.stopped", "protection.stopped", "protection.restored"]
  }
]
