/**
 * Setting and changing the password of an organization's archive, by its owner or by an operator.
 *
 * Every change makes a new recovery code, which is shown once; the one before opens nothing any more.
 */
import { Clock, Effect, type Redacted, Schema } from "effect"
import type { WrapKind } from "../domain/archive/Epoch.ts"
import type { WrapRow } from "../domain/archive/KeyWrap.ts"
import type { Actor } from "../domain/journal/Actor.ts"
import { type EntryOrigin, journalAction, journalEntry } from "../domain/journal/JournalEntry.ts"
import type { JournalDetails } from "../domain/journal/JournalEvent.ts"
import type { OrganizationId } from "../domain/people/Access.ts"
import { type ArchiveKey, ArchiveKeys } from "../ports/archive/ArchiveKeys.ts"
import { Db } from "../ports/Db.ts"
import { Journal } from "../ports/journal/Journal.ts"
import { PasswordUnfit } from "../ports/signin/ConsolePasswords.ts"
import { PasswordHashes } from "../ports/signin/PasswordHashes.ts"
import { type ArchiveSeed, eraseSeed, makeKeyPair, makeRecoveryCode, unwrapSeed, wrapSeed } from "./KeyWraps.ts"

/** The key was changed by another request since it was read. */
class ArchiveKeyChanged extends Schema.TaggedError<ArchiveKeyChanged>()("ArchiveKeyChanged", {
  message: Schema.String
}) {}

const changed = () =>
  Effect.fail(
    new ArchiveKeyChanged({ message: "The archive's key was changed meanwhile: look again, then repeat it." })
  )

/** The organization whose key changes, who changes it, and from where. */
export interface KeyChanger {
  readonly organizationId: OrganizationId
  readonly actor: Actor
  /** The admin; null for the operator. */
  readonly adminId: string | null
  readonly origin: EntryOrigin
}

const entryOf = ({ actor, organizationId, origin }: KeyChanger, details: JournalDetails) =>
  journalEntry(actor, origin, journalAction("archive_key.set"), { targetId: organizationId, details })

interface KeyRef extends Pick<ArchiveKey, "organizationId" | "keyId" | "publicKey"> {}

/** The wraps of a password and of a new recovery code. */
const wrapsOf = Effect.fnUntraced(function*(key: KeyRef, password: Redacted.Redacted, seed: ArchiveSeed) {
  const recoveryCode = yield* makeRecoveryCode
  const seal = (kind: WrapKind, secret: Redacted.Redacted) =>
    // Only a recovery code that is none can be refused.
    Effect.orDie(wrapSeed({ ...key, kind }, secret, seed))
  const wraps: ReadonlyArray<WrapRow> = [yield* seal("password", password), yield* seal("recovery", recoveryCode)]
  return { recoveryCode, wraps }
})

/** The rule of console passwords. */
const fit = Effect.fnUntraced(function*(organizationId: OrganizationId, password: Redacted.Redacted) {
  const fault = yield* (yield* PasswordHashes).faultOf(password, { organizationId, email: "" })
  if (fault !== null) return yield* new PasswordUnfit({ message: fault })
})

/**
 * Makes the organization's key pair. Where there is one already, `replaced` is its id: what was archived under it can be
 * read no more. Fails where the key is another one than that.
 */
export const setArchiveKey = Effect.fnUntraced(function*(
  changer: KeyChanger,
  password: Redacted.Redacted,
  replaced: ArchiveKey | null
) {
  const { adminId: madeBy, organizationId } = changer
  const keys = yield* ArchiveKeys
  const db = yield* Db
  const journal = yield* Journal
  yield* fit(organizationId, password)
  const { keyId, publicKey, seed } = yield* makeKeyPair
  const { recoveryCode, wraps } = yield* Effect.ensuring(
    wrapsOf({ organizationId, keyId, publicKey }, password, seed),
    eraseSeed(seed)
  )
  const now = new Date(yield* Clock.currentTimeMillis)
  yield* db.transaction(
    organizationId,
    Effect.gen(function*() {
      const known = yield* keys.lock(organizationId)
      if (known?.keyId !== replaced?.keyId) return yield* changed()
      yield* keys.add({ organizationId, keyId, publicKey, wraps, madeBy }, now)
      yield* journal.append(organizationId, entryOf(changer, { way: "new_key", replaced: replaced !== null }))
    })
  )
  return recoveryCode
})

/** Gives the key pair another password, by the one before or by the recovery code. */
export const changeArchivePassword = Effect.fnUntraced(function*(
  changer: KeyChanger,
  key: ArchiveKey,
  by: { readonly kind: WrapKind; readonly secret: Redacted.Redacted },
  password: Redacted.Redacted
) {
  const { organizationId } = changer
  const keys = yield* ArchiveKeys
  const db = yield* Db
  const journal = yield* Journal
  yield* fit(organizationId, password)
  const wrap = yield* db.read(organizationId, keys.wrap(key, by.kind))
  if (wrap === null) return yield* changed()
  const seed = yield* unwrapSeed({ ...key, kind: by.kind }, wrap, by.secret)
  const { recoveryCode, wraps } = yield* Effect.ensuring(wrapsOf(key, password, seed), eraseSeed(seed))
  const now = new Date(yield* Clock.currentTimeMillis)
  yield* db.transaction(
    organizationId,
    Effect.gen(function*() {
      const known = yield* keys.lock(organizationId)
      if (known?.keyId !== key.keyId || known.wrapId !== key.wrapId) return yield* changed()
      for (const next of wraps) yield* keys.rewrap(key, next, now)
      yield* journal.append(
        organizationId,
        entryOf(changer, { way: by.kind === "password" ? "archive_password" : "recovery_code" })
      )
    })
  )
  return recoveryCode
})
