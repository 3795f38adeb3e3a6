/** Decides by what is stored and what was seen: a pure function. */
import { isWatched } from "../accounts/ProtectionStatus.ts"
import { decideOnList } from "./DecideOnList.ts"
import { decideWithoutList, type MissingList } from "./DecideWithoutList.ts"
import type { Decision } from "./Decision.ts"
import type { DecideOptions, ProtectionFacts } from "./Facts.ts"
import { settleLosses } from "./LostSessions.ts"
import type { Observation } from "./Observation.ts"
import { recognized } from "./ServiceSessionFacts.ts"

const nothing = (facts: ProtectionFacts, now: Date): Decision => ({
  upserts: [],
  ended: [],
  endings: [],
  signals: [],
  takeover: null,
  account: {},
  monitor: {},
  own: [],
  facets: facts.facets,
  events: [],
  mails: [],
  freesIdentity: false,
  dueAt: null,
  lookAt: facts.monitor.look_at ?? now
})

/** Decides in the order of section 12.6 of the specification. */
export const decide = (
  facts: ProtectionFacts,
  observation: Observation,
  now: Date,
  options: DecideOptions
): Decision => {
  if (!isWatched(facts.account)) return nothing(facts, now)
  const left = settleLosses(facts, observation.lost, now)
  const { outcome } = observation
  const stage = { facts, left, codes: observation.codes, now, options }
  const unseen = (because: MissingList) => decideWithoutList(stage, because)
  if (left.stopped !== null) return unseen({ kind: "stopped" })
  if (left.unusable !== null) return unseen({ kind: "unusable", error: left.unusable })
  if (outcome.kind === "lost") return unseen({ kind: "unusable", error: "no_key" })
  if (outcome.kind !== "seen") return unseen(outcome)
  const list = recognized(left.own, outcome.through, outcome.authorizations, options.device)
  return list === null ? unseen({ kind: "unavailable", error: "bad_list" }) : decideOnList(stage, outcome, list)
}
