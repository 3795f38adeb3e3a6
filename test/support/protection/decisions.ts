/** What a decision says, in short. */
import type { Decision } from "../../../src/domain/protection/Decision.ts"

export const actions = ({ events }: Decision) => events.map(({ action }) => action)
export const mailed = ({ mails }: Decision) => mails.map(({ kind }) => kind)
export const ended = ({ endings }: Decision) => endings.map(({ reason, session_id }) => [session_id, reason])
export const upserted = (decision: Decision, id: string) => decision.upserts.find(({ row }) => row.id === id)?.row
