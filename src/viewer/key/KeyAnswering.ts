/** The key that a form of the archive password asks for, made or opened by what was typed there. */
import { ZxcvbnFactory } from "@zxcvbn-ts/core"
import { adjacencyGraphs, dictionary } from "@zxcvbn-ts/language-common"
import { Effect, Redacted } from "effect"
import { checkKey, type KeyWithCode, makeKey, wrapKey } from "../../archive/KeyMaking.ts"
import { openToken } from "../../archive/KeyPossession.ts"
import { eraseSeed, unwrapSeed } from "../../archive/KeyWraps.ts"
import { readBase64 } from "../../domain/archive/Bytes.ts"
import { ArchiveKeyId } from "../../domain/archive/Epoch.ts"
import { ownKeyText, wrapRow } from "../../domain/archive/OwnKey.ts"
import { OrganizationId } from "../../domain/people/Access.ts"
import { passwordFault } from "../../domain/signin/PasswordRule.ts"
import type { KeyAsk, KeyFault, KnownKey, ReadyKey } from "./KeyCalls.ts"

const faultAt = (field: string, message: string) => Effect.fail<KeyFault>({ field, message })

const estimator = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })

/** Opens the known key by its secret, and wraps it under the new password. */
const rewrap = Effect.fnUntraced(function*(
  organizationId: OrganizationId,
  { keyId, kind, publicKey, token, wrap, wrapId, wrong }: KnownKey,
  secret: string,
  password: Redacted.Redacted
) {
  const names = {
    organizationId,
    keyId: ArchiveKeyId.make(keyId),
    publicKey: readBase64(publicKey) ?? new Uint8Array(),
    wrapId
  }
  return yield* Effect.acquireUseRelease(
    unwrapSeed({ ...names, kind }, wrapRow(kind, wrap), Redacted.make(secret)),
    (seed) => Effect.all([wrapKey(names, password, seed), openToken(names, seed, token)]),
    eraseSeed
  ).pipe(Effect.catchTags({
    WrongArchivePassword: () => faultAt("secret", wrong),
    ArchiveUnreadable: () => faultAt("", "The archive's key was changed where it is stored, and does not open.")
  }))
})

/** The key that is ready to be sent, once both of its secrets have opened it; or the field at fault. */
export const makeAnswer = Effect.fnUntraced(
  function*({ email, known, organizationId: id, password: text, secret }: KeyAsk) {
    const fault = passwordFault(text, { organizationId: id, email }, (word) => estimator.check(word).score)
    if (fault !== null) return yield* faultAt("new", fault)
    const organizationId = OrganizationId.make(id)
    const password = Redacted.make(text)
    const [made, opened]: readonly [KeyWithCode, string] = known === null
      ? [yield* makeKey(organizationId, password), ""]
      : yield* rewrap(organizationId, known, secret, password)
    yield* checkKey(made, password)
    const recoveryCode = Redacted.value(made.recoveryCode)
    return { key: ownKeyText(made.key), opened, recoveryCode } satisfies ReadyKey
  }
)
