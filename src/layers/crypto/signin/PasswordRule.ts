/** The rule for new console passwords: long, hard to guess, and not built from known facts about the owner. */
import { Effect } from "effect"
import { maxPasswordLength, minPasswordLength } from "../../../domain/Limits.ts"

/** The facts about the admin that a guesser knows. */
export interface Owner {
  readonly organizationId: string
  readonly email: string
}

/** The number of characters of a password that are estimated: the work grows faster than the length. */
const estimated = 64

/** Fewer letters than this are found in many a good password. */
const checkedLength = 4

/** The form in which passwords are hashed and compared: keyboards compose the same letters differently. */
export const normalized = (text: string): string => text.normalize("NFKC")

/** The estimator with its lists of breached and common passwords, read when it is first needed. */
const estimator = Effect.runSync(Effect.cached(Effect.promise(async () => {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import("@zxcvbn-ts/core"),
    import("@zxcvbn-ts/language-common")
  ])
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })
})))

/** The fault of a new password, in one sentence; null if it has none. */
export const faultOf = Effect.fnUntraced(function*(password: string, { email, organizationId }: Owner) {
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
  const { score } = (yield* estimator).check([...text].slice(0, estimated).join(""))
  return score < 3
    ? "This password is too easy to guess: it is common, breached or a pattern. Take a few words that do not belong together."
    : null
})
