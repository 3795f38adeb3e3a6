import type { CapturedChat } from "../../../domain/archive/CapturedChat.ts"
import { isComplete } from "../../../domain/archive/ChatProgress.ts"
import { formatRanges, parseRanges } from "../../../domain/archive/CoveredRanges.ts"

/** A chat's columns; numbers of 64 bits and ranges are texts. */
export interface CapturedRow extends
  Pick<
    CapturedChat,
    | "counted"
    | "effect"
    | "floorAt"
    | "joinedAt"
    | "leftAt"
    | "live"
    | "members"
    | "membersAt"
    | "position"
    | "protected"
    | "ref"
    | "refusedUntil"
    | "ruleId"
    | "stopped"
    | "type"
  >
{
  readonly chat: string
  readonly migrated: string | null
  readonly covered: string
  readonly edge: string | null
  readonly floor: string | null
  readonly top: string | null
  readonly reachedAt: Date | null
  readonly below: string | null
  readonly down: string | null
  readonly cleaned: string
  readonly last: string | null
}

const bigintOf = (text: string | null): bigint | null => text === null ? null : BigInt(text)

export const capturedChat = (
  { below, chat, cleaned, covered, down, edge, floor, last, migrated, reachedAt, top, ...row }: CapturedRow
): CapturedChat => ({
  ...row,
  chatId: BigInt(chat),
  migratedTo: bigintOf(migrated),
  lastId: bigintOf(last),
  cleaned: parseRanges(cleaned),
  unchecked: below === null || down === null ? null : { below: BigInt(below), to: BigInt(down) },
  progress: {
    covered: parseRanges(covered),
    edge: bigintOf(edge),
    floor: bigintOf(floor),
    topId: bigintOf(top),
    reachedAt
  }
})

/** The columns of what is promised of a chat. */
export const promisesOf = (
  { counted, floorAt, leftAt, membersAt, position, progress, refusedUntil, unchecked }: CapturedChat
) => ({
  position,
  left_at: leftAt,
  refused_until: refusedUntil,
  members_at: membersAt,
  covered: formatRanges(progress.covered),
  edge: progress.edge,
  floor: progress.floor,
  floor_at: floorAt,
  top_id: progress.topId,
  counted,
  reached_at: progress.reachedAt,
  unchecked_below: unchecked?.below ?? null,
  unchecked_to: unchecked?.to ?? null,
  complete: isComplete(progress)
})
