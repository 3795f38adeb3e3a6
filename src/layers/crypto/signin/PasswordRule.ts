/** The rule for new passwords, with the lists of breached and common ones, and the hasher of console passwords. */
import { Effect, Layer, Redacted } from "effect"
import { maxPasswordLength } from "../../../domain/Limits.ts"
import { normalized, passwordFault, type PasswordOwner } from "../../../domain/signin/PasswordRule.ts"
import { PasswordHashes } from "../../../ports/signin/PasswordHashes.ts"
import { PasswordHasher } from "./PasswordHasher.ts"

/** The estimator with its lists of breached and common passwords, read when it is first needed. */
const estimator = Effect.runSync(Effect.cached(Effect.promise(async () => {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import("@zxcvbn-ts/core"),
    import("@zxcvbn-ts/language-common")
  ])
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })
})))

/** The fault of a new password, in one sentence; null if it has none. */
export const faultOf = (password: string, owner: PasswordOwner) =>
  Effect.map(estimator, (known) => passwordFault(password, owner, (text) => known.check(text).score))

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
