/** Ids that the messenger gives: 64 bits there, therefore decimal text and never a number. */
import { Schema } from "effect"

const largest = 2n ** 63n - 1n

/** The id, or null where the text is not a decimal number of 64 bits as the service writes it. */
const platformId = (text: string): bigint | null => {
  if (!/^(?:0|-?[1-9][0-9]{0,18})$/.test(text)) return null
  const id = BigInt(text)
  return id > largest || id < -largest ? null : id
}

const decimal = { expected: "a decimal number between -9223372036854775807 and 9223372036854775807" }

/** The id of a chat; those of groups and channels may be negative. */
export const PlatformId = Schema.String.check(
  Schema.isPattern(/^(?:0|-?[1-9][0-9]{0,18})$/u, decimal),
  Schema.makeFilter((text: string) => platformId(text) !== null, decimal)
)

const natural = { expected: "a decimal number up to 9223372036854775807" }

/** The id of a message in its chat. */
export const MessageId = Schema.String.check(
  Schema.isPattern(/^(?:0|[1-9][0-9]{0,18})$/u, natural),
  Schema.makeFilter((text: string) => platformId(text) !== null, natural)
)
