/** Files of archive keys that were made on their user's side. */
import { Effect, Layer, Redacted, Result } from "effect"
import * as fs from "node:fs"
import { checkKey, makeKey } from "../../../archive/KeyMaking.ts"
import { decodeOwnKey, ownKeyText } from "../../../domain/archive/OwnKey.ts"
import { OrganizationId } from "../../../domain/people/Access.ts"
import { parameterInvalid } from "../../../kernel/Refusals.ts"
import * as NodeCrypto from "../../../layers/archive/NodeCrypto.ts"
import * as PasswordDerivation from "../../../layers/archive/PasswordDerivation.ts"
import { faultOf } from "../../../layers/crypto/signin/PasswordRule.ts"
import { refuse, Refused } from "../../../operator/UseCase.ts"

/** A key takes less than 3 KB. */
const largestFile = 64 * 1024

/** Nothing is overwritten: a key that is in use has no other copy of its wraps than the database's. */
const write = (file: string, text: string) =>
  Effect.try({
    try: () => fs.writeFileSync(file, `${text}\n`, { flag: "wx", mode: 0o600 }),
    catch: () => new Refused({ message: `${file} cannot be written, or is there already.` })
  })

/** Makes a key that opens by the password, and writes it. */
export const makeKeyFile = Effect.fnUntraced(
  function*(organization: string, password: Redacted.Redacted, file: string) {
    const organizationId = OrganizationId.make(organization)
    const fault = yield* faultOf(Redacted.value(password), { organizationId, email: "" })
    if (fault !== null) return yield* refuse(fault)
    const made = yield* makeKey(organizationId, password)
    yield* checkKey(made, password)
    yield* write(file, ownKeyText(made.key))
    return { organization, key_id: made.key.keyId, file, recovery_code: Redacted.value(made.recoveryCode) }
  },
  Effect.provide(Layer.merge(NodeCrypto.layer, PasswordDerivation.layer))
)

const readJson = (file: string): unknown => {
  if (fs.statSync(file).size > largestFile) throw new RangeError("Too large for a key")
  return JSON.parse(fs.readFileSync(file, "utf8"))
}

/** The key of a file, strictly read. */
export const readKeyFile = Effect.fnUntraced(function*(file: string) {
  const value = yield* Effect.try({
    try: () => readJson(file),
    catch: () => new Refused({ message: `${file} cannot be read, or is no file of a key.` })
  })
  const decoded = decodeOwnKey(value)
  return Result.isSuccess(decoded)
    ? decoded.success
    : yield* refuse(`${file}: ${parameterInvalid(decoded.failure.issue).message}`)
})
