/** Facts and observations of one account for examples: connected long ago, one device of the holder, nothing amiss. */
import { type Authorization, AuthorizationId } from "../../../src/domain/messenger/Messenger.ts"
import { decide } from "../../../src/domain/protection/Decide.ts"
import type { Decision } from "../../../src/domain/protection/Decision.ts"
import type {
  GuardedAccount,
  MonitorFacts,
  ProtectionFacts,
  WatchedSession
} from "../../../src/domain/protection/Facts.ts"
import type { Observation, SeenList } from "../../../src/domain/protection/Observation.ts"
import { at, day, hour, now, sessionFacts } from "../stored.ts"
import { Platform } from "./platform.ts"
import { options, World } from "./world.ts"

export const main = "d1"

/** The account a month after it was connected, polled a minute ago. */
export const facts = (
  changes: {
    readonly account?: Partial<GuardedAccount>
    readonly monitor?: Partial<MonitorFacts>
    readonly sessions?: ReadonlyArray<WatchedSession>
  } & Partial<Omit<ProtectionFacts, "account" | "monitor" | "sessions">> = {}
): ProtectionFacts => {
  const world = new World(at(-30 * day).getTime(), 0, false)
  return {
    ...world.facts,
    facets: { through: main },
    ...changes,
    account: { ...world.account, baselined: true, ...changes.account },
    monitor: { ...world.facts.monitor, last_ok_at: at(-hour / 60), ...changes.monitor },
    sessions: [row("0", { service: true, current: true, created_at: at(-30 * day + 1) }), ...changes.sessions ?? []]
  }
}

/** A stored session, by default one that was seen an hour ago and waits for its review. */
export const row = (id: string, changes: Partial<WatchedSession> = {}): WatchedSession => ({
  ...sessionFacts(),
  record_id: `record-${id}`,
  id,
  created_at: at(-hour),
  withheld_at: null,
  withheld_reason: null,
  ending_reason: null,
  ending_at: null,
  ending_by: null,
  ending_intent: null,
  ...changes
})

const platform = new Platform(false)
platform.signIn(at(-30 * day).getTime())

/** Security and profile where nothing has changed. */
export const security = platform.security()
export const profile = platform.profile()

/** A listed device. */
export const listed = (id: string, changes: Partial<Omit<Authorization, "id">> = {}): Authorization => ({
  id: AuthorizationId.make(id),
  current: false,
  device_model: null,
  platform: null,
  app_name: null,
  app_version: null,
  ip: null,
  country: null,
  last_active_at: null,
  created_at: at(-hour),
  password_pending: false,
  unconfirmed: false,
  ...changes
})

/** The list was read through the main session. */
export const seen = (others: ReadonlyArray<Authorization>, rest: Partial<SeenList> = {}): Observation => ({
  outcome: { kind: "seen", through: main, authorizations: [...platform.list(main), ...others], ...rest },
  lost: [],
  codes: 0
})

export const decided = (stored: ProtectionFacts, observation: Observation, moment = now): Decision =>
  decide(stored, observation, moment, options)
