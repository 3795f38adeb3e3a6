/** The values that a request carries besides its input. */
import { Redacted, Result } from "effect"
import * as Base64Url from "effect/encoding/Base64Url"
import { Caller, type Extras } from "../domain/people/Access.ts"

/** A secret as a person has it; what is no text is one that is wrong. */
export const secret = (given: unknown): Redacted.Redacted | undefined =>
  given === undefined ? undefined : Redacted.make(typeof given === "string" ? given : "")

/**
 * The password in the header `Archive-Password`: the base64url of its UTF-8; what is none is a password that is wrong.
 */
export const archivePasswordIn = (headers: Readonly<Record<string, string | undefined>>) => {
  const sent = headers["archive-password"]
  return sent === undefined ? undefined : secret(Result.getOrElse(Base64Url.decodeString(sent), () => ""))
}

/** The header that carries the password. */
export const archivePasswordHeader = (password: Redacted.Redacted): Readonly<Record<string, string>> => ({
  "archive-password": Base64Url.encode(Redacted.value(password))
})

/** The caller with what the request carries, where it carries something. */
export const withExtras = (
  caller: Caller["Service"],
  { archivePassword, idempotencyKey }: { readonly [Name in keyof Extras]-?: Extras[Name] | undefined }
): Caller["Service"] =>
  archivePassword === undefined && idempotencyKey === undefined ? caller : Caller.of({
    ...caller,
    extras: {
      ...(archivePassword === undefined ? {} : { archivePassword }),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey })
    }
  })
