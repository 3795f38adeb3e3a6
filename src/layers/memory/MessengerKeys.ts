import { Effect, Layer } from "effect"
import type { SessionRef } from "../../domain/messenger/Messenger.ts"
import { type KeptSession, type KeptValue, MessengerKeys } from "../../ports/messenger/MessengerKeys.ts"

/** The keys of sessions in the process. */
export const layer = Layer.sync(MessengerKeys, () => {
  const sessions = new Map<SessionRef, KeptSession & { readonly values: Map<string, KeptValue> }>()
  return MessengerKeys.of({
    load: (sessionRef) => Effect.sync(() => sessions.get(sessionRef) ?? null),
    save: (sessionRef, name, value, version) =>
      Effect.sync(() => {
        const session = sessions.get(sessionRef) ?? { values: new Map<string, KeptValue>(), doubtedAt: null }
        if ((session.values.get(name)?.version ?? 0) !== version) return false
        session.values.set(name, { value, version: version + 1 })
        sessions.set(sessionRef, session)
        return true
      }),
    doubt: (sessionRef, at) =>
      Effect.sync(() => {
        const session = sessions.get(sessionRef)
        if (session !== undefined) sessions.set(sessionRef, { ...session, doubtedAt: at })
      }),
    erase: (sessionRef) => Effect.sync(() => void sessions.delete(sessionRef))
  })
})
