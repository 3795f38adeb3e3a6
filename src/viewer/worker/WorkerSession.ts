/** The opened archive of the worker. */
import { Array as Arr, Effect, Redacted } from "effect"
import { openLocally } from "../../archive/LocalOpening.ts"
import { openAccounts } from "../../archive/SearchAnswer.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import { ArchiveKeys } from "../../ports/archive/ArchiveKeys.ts"
import { RemoteRefusal } from "../../ports/archive/SealedArchive.ts"

const refused = (code: string, message: string) => () => Effect.fail(new RemoteRefusal({ code, message }))

/** Opens the archive by its password, until the scope closes. */
export const openSession = Effect.fnUntraced(function*(organizationId: OrganizationId, password: string) {
  const keys = yield* (yield* ArchiveKeys).wrapped(organizationId)
  if (!Arr.isReadonlyArrayNonEmpty(keys)) {
    return yield* refused("no_archive_key", "There is no archive password yet.")()
  }
  const archive = yield* openLocally(keys, Redacted.make(password)).pipe(
    Effect.catchTags({
      WrongArchivePassword: refused("wrong_password", "This is not the archive password."),
      ArchiveUnreadable: refused("key_changed", "The archive key was changed, and does not open.")
    })
  )
  return { organizationId, ...openAccounts(organizationId, archive) }
})
export type Session = Effect.Success<ReturnType<typeof openSession>>
