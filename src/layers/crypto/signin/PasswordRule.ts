/** The rule for new console passwords: long, hard to guess, and not built from known facts about the owner. */
import { Effect, Layer, Redacted } from "effect"
import { maxPasswordLength, minPasswordLength } from "../../../domain/Limits.ts"
import { PasswordHashes, type PasswordOwner } from "../../../ports/signin/PasswordHashes.ts"
import { PasswordHasher } from "./PasswordHasher.ts"

/** The number of characters of a password that are estimated: the work grows faster than the length. */
const estimated = 64

/** Fewer letters than this are found in many a good password. */
const checkedLength = 4

/** The form in which passwords are hashed and compared: keyboards compose the same letters differently. */
const normalized = (text: string): string => text.normalize("NFKC")

/** The estimator with its lists of breached and common passwords, read when it is first needed. */
const estimator = Effect.runSync(Effect.cached(Effect.promise(async () => {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import("@zxcvbn-ts/core"),
    import("@zxcvbn-ts/language-common")
  ])
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })
})))

/** The fault of a new password, in one sentence; null if it has none. */
export const faultOf = Effect.fnUntraced(function*(password: string, { email, organizationId }: PasswordOwner) {
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

/** The rule, and the hasher over passwords in their normal form. */
export const layer = Layer.effect(
  PasswordHashes,
  Effect.map(PasswordHasher, (hasher) => {
    const formed = (password: Redacted.Redacted) => Redacted.make(normalized(Redacted.value(password)))
    return PasswordHashes.of({
      faultOf: (password, owner) => faultOf(Redacted.value(password), owner),
      hash: (password) => Effect.map(hasher.hash(formed(password)), (hash) => Redacted.make(hash)),
      verify: Effect.fnUntraced(function*(hash, password) {
        const text = Redacted.value(password)
        if ([...text].length > maxPasswordLength) return false
        if (yield* hasher.verify(Redacted.value(hash), formed(password))) return true
        return normalized(text) !== text && (yield* hasher.verify(Redacted.value(hash), password))
      }),
      isCurrent: (hash) => hasher.isCurrent(Redacted.value(hash))
    })
  })
)
