/** Organizations with an archive password. */
import { Effect, Redacted } from "effect"
import { unwrapSeed, wrapSeed } from "../../../src/archive/KeyWraps.ts"
import type { OrganizationId } from "../../../src/domain/people/Access.ts"
import { ArchiveKeys } from "../../../src/ports/archive/ArchiveKeys.ts"
import { Db } from "../../../src/ports/Db.ts"
import { act } from "../operator/operator.ts"
import { archivePassword } from "./archivePassword.ts"

/** Sets the archive password, as an operator does. */
export const setArchiveKey = (organization: string, { password = archivePassword, replace = false } = {}) =>
  act((requests) => requests.archive_key_set({ organization, password: Redacted.make(password), key: null, replace }))

/** Gives the archive's key pair another password, in place of the tests'. */
export const changeArchivePassword = Effect.fnUntraced(function*(organizationId: OrganizationId, password: string) {
  const [db, keys] = [yield* Db, yield* ArchiveKeys]
  const [current] = yield* db.read(organizationId, keys.wrapped(organizationId))
  if (current === undefined) return yield* Effect.die(new Error("No archive key"))
  const ref = { ...current.key, kind: "password" as const }
  const seed = yield* unwrapSeed(ref, current.wrap, Redacted.make(archivePassword))
  const wrap = yield* wrapSeed(ref, Redacted.make(password), seed)
  yield* db.transaction(organizationId, keys.rewrap(current.key, wrap, new Date(0)))
})
