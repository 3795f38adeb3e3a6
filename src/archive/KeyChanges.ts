/**
 * Setting and changing the password of an organization's archive, by its owner or by an operator.
 *
 * Every change makes a new recovery code, which is shown once; the one before opens nothing any more.
 */
import { Clock, Effect, type Redacted, Schema } from "effect"
import type { WrapKind } from "../domain/archive/Epoch.ts"
import { wrapIdOf } from "../domain/archive/KeyWrap.ts"
import type { MadeKey } from "../domain/archive/OwnKey.ts"
import type { Actor } from "../domain/journal/Actor.ts"
import { type EntryOrigin, journalAction, journalEntry } from "../domain/journal/JournalEntry.ts"
import type { JournalDetails } from "../domain/journal/JournalEvent.ts"
import type { OrganizationId } from "../domain/people/Access.ts"
import { type ArchiveKey, ArchiveKeys } from "../ports/archive/ArchiveKeys.ts"
import { Db } from "../ports/Db.ts"
import { Journal } from "../ports/journal/Journal.ts"
import { PasswordUnfit } from "../ports/signin/ConsolePasswords.ts"
import { PasswordHashes } from "../ports/signin/PasswordHashes.ts"
import { makeKey, wrapKey } from "./KeyMaking.ts"
import { eraseSeed, unwrapSeed } from "./KeyWraps.ts"

/** The key was changed by another request since it was read. */
export class ArchiveKeyChanged extends Schema.TaggedError<ArchiveKeyChanged>()("ArchiveKeyChanged", {
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
  /** The admin's address, which the password may not contain; empty for the operator. */
  readonly email: string
  readonly origin: EntryOrigin
}

/** The place where a key or its wraps were made; everywhere but in the service the password never reached it. */
export type MadeIn = "service" | "browser" | "key_file"

/** The key as it was when its change began; null where there was none. */
export type KnownKey = Pick<ArchiveKey, "keyId" | "wrapId"> | null

/** The rule of console passwords. */
const fit = Effect.fnUntraced(function*({ email, organizationId }: KeyChanger, password: Redacted.Redacted) {
  const fault = yield* (yield* PasswordHashes).faultOf(password, { organizationId, email })
  if (fault !== null) return yield* new PasswordUnfit({ message: fault })
})

/** True if this was stored before: a browser that got no answer asks again. */
const isStored = (key: MadeKey, known: KnownKey): boolean =>
  known?.keyId === key.keyId && known.wrapId === wrapIdOf(key.password)

/** Stores in one transaction with the entry; fails where the key is no longer the known one. */
const store = Effect.fnUntraced(function*<R>(
  { actor, organizationId, origin }: KeyChanger,
  key: MadeKey,
  known: KnownKey,
  details: JournalDetails,
  write: (now: Date) => Effect.Effect<void, never, R>
) {
  const keys = yield* ArchiveKeys
  const db = yield* Db
  const journal = yield* Journal
  const now = new Date(yield* Clock.currentTimeMillis)
  const entry = journalEntry(actor, origin, journalAction("archive_key.set"), { targetId: organizationId, details })
  yield* db.transaction(
    organizationId,
    Effect.gen(function*() {
      const current = yield* keys.lock(organizationId)
      if (isStored(key, current)) return
      if (current?.keyId !== known?.keyId || current?.wrapId !== known?.wrapId) return yield* changed()
      yield* write(now)
      yield* journal.append(organizationId, entry)
    })
  )
})

/**
 * Stores the organization's key pair. Where there is one already, it is given up: what was archived under it opens by its
 * own password alone.
 */
export const storeKey = Effect.fnUntraced(function*(
  changer: KeyChanger,
  key: MadeKey,
  replaced: KnownKey,
  made: MadeIn
) {
  const keys = yield* ArchiveKeys
  const { keyId, organizationId, password, publicKey, recovery } = key
  const wraps = [password, recovery]
  const stored = { organizationId, keyId, publicKey, wraps, madeBy: changer.adminId }
  const details = { way: "new_key", replaced: replaced !== null, made }
  yield* store(changer, key, replaced, details, (now) => keys.add(stored, now))
})

/** Stores other wraps of the key pair; those before open nothing any more. */
export const storeWraps = Effect.fnUntraced(function*(
  changer: KeyChanger,
  key: MadeKey,
  known: KnownKey,
  by: WrapKind,
  made: MadeIn
) {
  const keys = yield* ArchiveKeys
  const details = { way: by === "password" ? "archive_password" : "recovery_code", made }
  yield* store(
    changer,
    key,
    known,
    details,
    (now) => Effect.forEach([key.password, key.recovery], (wrap) => keys.rewrap(key, wrap, now), { discard: true })
  )
})

/** Makes the organization's key pair in the service. */
export const setArchiveKey = Effect.fnUntraced(function*(
  changer: KeyChanger,
  password: Redacted.Redacted,
  replaced: ArchiveKey | null
) {
  yield* fit(changer, password)
  const { key, recoveryCode } = yield* makeKey(changer.organizationId, password)
  yield* storeKey(changer, key, replaced, "service")
  return recoveryCode
})

/** Gives the key pair another password in the service, by the one before or by the recovery code. */
export const changeArchivePassword = Effect.fnUntraced(function*(
  changer: KeyChanger,
  known: ArchiveKey,
  by: { readonly kind: WrapKind; readonly secret: Redacted.Redacted },
  password: Redacted.Redacted
) {
  yield* fit(changer, password)
  const keys = yield* ArchiveKeys
  const wrap = yield* (yield* Db).read(changer.organizationId, keys.wrap(known, by.kind))
  if (wrap === null) return yield* changed()
  const { key, recoveryCode } = yield* Effect.acquireUseRelease(
    unwrapSeed({ ...known, kind: by.kind }, wrap, by.secret),
    (seed) => wrapKey(known, password, seed),
    eraseSeed
  )
  yield* storeWraps(changer, key, known, by.kind, "service")
  return recoveryCode
})
