/** The means that secure an account: passwords that the service makes, and addresses that wait for their code. */
import { Redacted, Schema, SchemaTransformation } from "effect"
import { AccountId } from "../accounts/Account.ts"
import { Count, described, Kind, Text, Timestamp } from "../JsonShapes.ts"
import { generatedPasswordLength, maxEmailLength } from "../Limits.ts"

const hidden = (text: Schema.Codec<string, string>) =>
  text.pipe(
    Schema.decodeTo(
      Schema.Redacted(Schema.String),
      SchemaTransformation.transform({ decode: (value: string) => Redacted.make(value), encode: Redacted.value })
    )
  )

/** The 2FA password of an account's holder: never answered, and hidden wherever it is held. */
export const CurrentPassword = hidden(
  Schema.String.annotate({ format: "password", writeOnly: true }).check(
    Schema.isMinLength(1),
    Schema.isMaxCodePoints(128)
  )
)

/** A code that the messenger sent to an address. */
export const EmailCode = hidden(
  Schema.String.annotate({ writeOnly: true }).check(
    Schema.isPattern(/^[0-9]{4,12}$/u, { expected: "4 to 12 digits" })
  )
)

/** An address that is to be the account's on the messenger; spaces around it are left out. */
export const EmailAddress = Schema.String.check(
  Schema.isMaxCodePoints(maxEmailLength),
  Schema.isPattern(/^ *[^\s@\x00-\x1f\x7f-\x9f]+@[^\s@\x00-\x1f\x7f-\x9f]+ *$/u, { expected: "an email address" })
).pipe(Schema.decodeTo(Text(maxEmailLength)))

/** The characters of a generated password: letters and digits that cannot be mistaken for each other. */
const characters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"

/** Bytes at or above this would make some characters likelier than others. */
const fair = 256 - 256 % characters.length

/** A password of 20 characters, 116 bits, made of random bytes; null where too few of them are fair. */
export const passwordOf = (bytes: Uint8Array): Redacted.Redacted | null => {
  const taken = [...bytes].filter((byte) => byte < fair).slice(0, generatedPasswordLength)
  return taken.length < generatedPasswordLength
    ? null
    : Redacted.make(taken.map((byte) => characters[byte % characters.length]).join(""))
}

/** So many bytes make a password but for one in millions. */
export const passwordBytes = 64

/** The address of an account that is changed. */
export const EmailKind = Schema.Literals(["recovery", "login"])
export type EmailKind = typeof EmailKind.Type

/** A change of an address that waits for its code. */
export const EmailChange = Schema.Struct({
  object: Kind("email_change"),
  account_id: described(AccountId, "The account: a UUID."),
  kind: described(EmailKind, "`recovery`, or `login` for the address that codes for signing in are sent to."),
  email_pattern: described(Schema.String, "The address, masked."),
  code_length: described(Schema.NullOr(Count), "How many digits the code has; null where the messenger does not say."),
  state: described(Schema.Literals(["code_sent", "confirmed"]), "`code_sent`, or `confirmed` where no code is needed."),
  attempts_left: described(Count, "How many wrong codes are taken before the change is over."),
  expires_at: described(Timestamp, "Until when the code is taken.")
}).annotate({ identifier: "email_change" })

/** A change of an address as it is stored. */
export interface EmailChangeFacts {
  readonly kind: EmailKind
  readonly pattern: string
  readonly code_length: number | null
  readonly attempts_left: number
  readonly expires_at: Date
}

/** True if a code may still be entered. */
export const isOpen = ({ attempts_left, expires_at }: EmailChangeFacts, now: Date): boolean =>
  attempts_left > 0 && expires_at.getTime() > now.getTime()
