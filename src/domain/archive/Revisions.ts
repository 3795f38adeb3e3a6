/** Telling revisions of a message apart: by the time of the edit, and within one second by what they say. */

import type { EditRecord } from "./Records.ts"

/** A revision that is archived. */
export interface KnownRevision {
  /** The messenger's time of the edit in Unix seconds, 0 for the message as sent. */
  readonly editedAt: number
  /** Tells contents apart; null where they cannot be compared, so that the time alone decides. */
  readonly mark: string | null
  /** It came after a newer one. */
  readonly late: boolean
  /** Those of one second are numbered in the order in which they are stored, from 0. */
  readonly place: number
}

type Told = Pick<KnownRevision, "editedAt" | "mark">

/** A message as it was seen, and what tells its content from others. */
export interface Sifted<Message> extends Told {
  readonly id: bigint
  readonly message: Message
}

export interface Sifting<Seen> {
  /** Messages that are not archived yet. */
  readonly fresh: ReadonlyArray<Seen>
  /** Revisions to archive, of messages that are; `late` are older than what is archived. */
  readonly revised: ReadonlyArray<Seen & Judged>
}

/** A revision's age and place among those of its message. */
export type Judged = Pick<KnownRevision, "late" | "place">

/** Revisions of one second are the same where they say the same, or cannot be compared. */
const isSame = (one: Told, other: Told): boolean => one.mark === null || other.mark === null || one.mark === other.mark

/** Answers if another revision of the second is shown in place of this one: `twins` are in the order of their places. */
const isHidden = ({ mark }: Told, twins: ReadonlyArray<KnownRevision>): boolean => {
  const shown = (twins.findLast(({ late }) => !late) ?? twins.at(-1))?.mark ?? null
  return mark !== null && shown !== null && shown !== mark
}

/**
 * Splits messages into new ones and revisions to archive. Among revisions of one second those that came late are the
 * older ones, and of the others the one that was seen last is the newest: a known one is archived again where another
 * one was stored after it, as where a page had the newer of two edits whose pushes came later.
 */
export const sift = <Seen extends Sifted<unknown>>(
  messages: ReadonlyArray<Seen>,
  known: ReadonlyMap<bigint, ReadonlyArray<KnownRevision>>,
  cameLate: boolean
): Sifting<Seen> => {
  const fresh: Array<Seen> = []
  const revised: Array<Seen & Judged> = []
  const all = new Map<bigint, Array<KnownRevision>>([...known].map(([id, revisions]) => [id, [...revisions]]))
  for (const message of messages) {
    const before = all.get(message.id)
    if (before === undefined) {
      fresh.push(message)
      all.set(message.id, [{ ...message, late: false, place: 0 }])
      continue
    }
    const late = cameLate || before.some(({ editedAt }) => editedAt > message.editedAt)
    const twins = before.filter(({ editedAt }) => editedAt === message.editedAt)
    const isKnown = twins.some((revision) => isSame(revision, message))
    if (isKnown && (late || !isHidden(message, twins))) continue
    const judged = { ...message, late, place: (twins.at(-1)?.place ?? -1) + 1 }
    revised.push(judged)
    before.push(judged)
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
