/** The rule for new passwords: long, hard to guess, and not built from known facts about the owner. */
import { maxPasswordLength, minPasswordLength } from "../Limits.ts"

/** The facts about an admin that a guesser knows. */
export interface PasswordOwner {
  readonly organizationId: string
  readonly email: string
}

/** The number of characters of a password that are estimated: the work grows faster than the length. */
const estimated = 64

/** Fewer letters than this are found in many a good password. */
const checkedLength = 4

/** The score of a password that takes more than 10^8 guesses, of 0 to 4. */
const leastScore = 3

/** The form in which passwords are hashed and compared: keyboards compose the same letters differently. */
export const normalized = (text: string): string => text.normalize("NFKC")

/** The fault of a new password, in one sentence; null if it has none. `scoreOf` estimates the guesses, from 0 to 4. */
export const passwordFault = (
  password: string,
  { email, organizationId }: PasswordOwner,
  scoreOf: (text: string) => number
): string | null => {
  const text = normalized(password)
  const length = [...text].length
  if (length < minPasswordLength || length > maxPasswordLength) {
    return `A password has ${minPasswordLength} to ${maxPasswordLength} characters.`
  }
  const lower = text.toLowerCase()
  const words = [
    ["the organization's id", organizationId],
    ["the name in the email address", email.split("@", 1)[0] ?? ""]
  ] as const
  for (const [what, word] of words) {
    if ([...word].length >= checkedLength && lower.includes(word.toLowerCase())) {
      return `A password does not contain ${what}.`
    }
  }
  return scoreOf([...text].slice(0, estimated).join("")) < leastScore
    ? "This password is too easy to guess: it is common, breached or a pattern. Take a few words that do not belong together."
    : null
}
