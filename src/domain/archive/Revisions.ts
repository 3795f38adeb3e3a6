/** Telling revisions of a message apart: by the time of the edit, and within one second by what they say. */

import type { EditRecord } from "./Records.ts"

/** A revision that is archived. */
export interface KnownRevision {
  /** The messenger's time of the edit in Unix seconds, 0 for the message as sent. */
  readonly editedAt: number
  /** Tells contents apart; null where they cannot be compared, so that the time alone decides. */
  readonly mark: string | null
}

/** A message as it was seen, and what tells its content from others. */
export interface Sifted<Message> extends KnownRevision {
  readonly id: bigint
  readonly message: Message
}

export interface Sifting<Seen> {
  /** Messages that are not archived yet. */
  readonly fresh: ReadonlyArray<Seen>
  /** Revisions that are not archived yet, of messages that are; `late` are older than what is archived. */
  readonly revised: ReadonlyArray<Seen & { readonly late: boolean }>
}

const isSame = (one: KnownRevision, other: KnownRevision): boolean =>
  one.editedAt === other.editedAt && (one.mark === null || other.mark === null || one.mark === other.mark)

/**
 * Splits messages into new ones and new revisions. Among revisions of one second those that came late are the older
 * ones, and of the others the one that was read last is the newest.
 */
export const sift = <Seen extends Sifted<unknown>>(
  messages: ReadonlyArray<Seen>,
  known: ReadonlyMap<bigint, ReadonlyArray<KnownRevision>>,
  cameLate: boolean
): Sifting<Seen> => {
  const fresh: Array<Seen> = []
  const revised: Array<Seen & { readonly late: boolean }> = []
  const all = new Map<bigint, Array<KnownRevision>>([...known].map(([id, revisions]) => [id, [...revisions]]))
  for (const message of messages) {
    const before = all.get(message.id)
    if (before === undefined) {
      fresh.push(message)
      all.set(message.id, [message])
    } else if (!before.some((revision) => isSame(revision, message))) {
      revised.push({ ...message, late: cameLate || before.some(({ editedAt }) => editedAt > message.editedAt) })
      before.push(message)
    }
  }
  return { fresh, revised }
}

/** A stored edit's place among revisions. */
type Placed = Pick<EditRecord, "edited_at" | "late" | "seen_at">

/** From the oldest to the newest; those that are alike stay in the order in which they came. */
export const byAge = (one: Placed, other: Placed): number =>
  (one.edited_at ?? 0) - (other.edited_at ?? 0) || Number(other.late ?? false) - Number(one.late ?? false) ||
  one.seen_at - other.seen_at

/** The newest of a message's edits, where it is newer than the message as it was first seen, edited at `first`. */
export const newestEdit = <Edit extends Placed>(edits: ReadonlyArray<Edit>, first: number): Edit | null => {
  const newest = [...edits].sort(byAge).at(-1)
  if (newest === undefined) return null
  const editedAt = newest.edited_at ?? 0
  return editedAt > first || editedAt === first && newest.late !== true ? newest : null
}
