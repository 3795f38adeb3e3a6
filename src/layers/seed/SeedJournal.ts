/** The history that a seed file gives a journal. */
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Actor } from "../../domain/journal/Actor.ts"
import { background, commandLine, journalAction, journalEntry } from "../../domain/journal/JournalEntry.ts"
import { appendAt } from "../sql/journal/JournalAppends.ts"
import { resolve, type SeedEvent, type SeedOrganization } from "./Seed.ts"

/** The ids that were made before. */
interface SeededIds {
  /** Admins by their email addresses, accounts by their phone numbers. */
  readonly ids: ReadonlyMap<string, string>
  /** The ids of each account's sessions by their devices, by its phone number. */
  readonly sessions: ReadonlyMap<string, ReadonlyMap<string, string>>
}

const actorOf = ({ by }: SeedEvent, seed: SeedOrganization, ids: SeededIds["ids"], sessionId: string): Actor => {
  if (by === "service") return { type: "service", credential: null }
  if (by === "operator" || by === "holder" || by === "external") return { type: by }
  const name = seed.admins.find(({ email }) => email === by)?.name ?? null
  const credential = { kind: "console" as const, id: sessionId, label: "Console" }
  return { type: "admin", adminId: ids.get(by) ?? "", name, credential }
}

const origins = { admin: { ...background, via: "console" }, operator: commandLine } as const

/** Appends that the organization was made, and what happened in it until now; within its transaction. */
export const appendHistory = Effect.fnUntraced(
  function*(seed: SeedOrganization, { ids, sessions }: SeededIds, now: Date) {
    const random = yield* SecureRandom.SecureRandom
    const events = (seed.journal ?? []).map((event) => ({ event, at: resolve(event.at, now) }))
    const created = journalEntry({ type: "operator" }, commandLine, journalAction("organization.created"), {
      targetId: seed.id
    })
    yield* appendAt(seed.id, created, events[0]?.at ?? now)
    for (const { at, event } of events) {
      const { account, action, details = {}, session } = event
      const actor = actorOf(event, seed, ids, yield* random.uuidV7())
      const accountId = account === undefined ? null : ids.get(account) ?? null
      const target = session === undefined
        ? { type: accountId === null ? "organization" as const : "account" as const, id: accountId ?? seed.id }
        : { type: "session" as const, id: sessions.get(account ?? "")?.get(session) ?? session }
      const origin = actor.type === "admin" ? origins.admin : actor.type === "operator" ? origins.operator : background
      const happened = { accountId, details, targetId: target.id }
      yield* appendAt(seed.id, journalEntry(actor, origin, { action, target: target.type }, happened), at)
    }
  }
)
