/** The secrets of signing in: random ones, their digests, and what is sealed or signed. */
import { Context, type Effect, type Redacted } from "effect"

/** Random secrets of the console, and seals. */
export class SignInSecrets extends Context.Service<SignInSecrets, {
  /** 256 random bits in base64url. */
  readonly newSecret: Effect.Effect<string>
  /** A recovery code in groups: 80 random bits. */
  readonly newRecoveryCode: Effect.Effect<string>
  /** SHA-256 of a text, as lower-case hex. */
  digest(text: string): string
  /** Seals a text for a context. */
  seal(text: Redacted.Redacted, context: ReadonlyArray<string>): string
  /** Opens what was sealed for the context; dies for anything else. */
  open(sealed: string, context: ReadonlyArray<string>): Effect.Effect<Redacted.Redacted>
}>()("org-security-console/ports/signin/SignInSecrets") {}

/** Signatures of forms: an HMAC under the newest key, accepted under any of them. */
export class FormSignatures extends Context.Service<FormSignatures, {
  sign(text: string): string
  isSigned(text: string, signature: string): boolean
}>()("org-security-console/ports/signin/SignInSecrets/FormSignatures") {}
