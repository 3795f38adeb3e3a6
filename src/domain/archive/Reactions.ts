/** Reactions to a message in words. */
import type { ReactionRecord } from "./Records.ts"

export const reactionWords = ({ count, emoji, emoji_id }: typeof ReactionRecord.Type): string =>
  `${emoji ?? (emoji_id === undefined ? "star" : `custom emoji ${emoji_id}`)} ${count}`
