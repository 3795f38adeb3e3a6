/** The second factors by which admins sign in to the console. */

/**
 * The proof given as the second factor: a code of an authenticator app, a passkey, one of the codes kept for a loss, or
 * what the organization's identity provider asked for.
 */
export type FactorKind = "totp" | "passkey" | "recovery_code" | "identity_provider"

/** The letters of recovery codes: base 32 by Crockford, in which none is taken for another. */
const letters = "0123456789abcdefghjkmnpqrstvwxyz"

/** The number of letters of a recovery code: 80 bits. */
const codeLength = 16

/** The code of ten random bytes, in groups. */
export const recoveryCode = (bytes: Uint8Array): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("")
  const text = (bits.match(/.{5}/g) ?? []).map((five) => letters.charAt(Number.parseInt(five, 2))).join("")
  return (text.match(/.{4}/g) ?? []).join("-")
}

/** A code as it was typed: six digits of an app, a recovery code without its groups, or neither. */
export type TypedCode = { readonly kind: "totp" | "recovery_code"; readonly code: string }

/** Reads what was typed, with whatever spaces, hyphens and capitals. */
export const readCode = (typed: string): TypedCode | null => {
  if (typed.length > 64) return null
  const text = typed.replaceAll(/[\s-]/g, "").toLowerCase()
  if (/^[0-9]{6}$/.test(text)) return { kind: "totp", code: text }
  const code = text.replaceAll("o", "0").replaceAll(/[il]/g, "1")
  return code.length === codeLength && [...code].every((letter) => letters.includes(letter))
    ? { kind: "recovery_code", code }
    : null
}
