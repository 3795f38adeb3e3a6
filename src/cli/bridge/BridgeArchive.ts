/** The archive as the bridge opens it: by the password that its user gives, for as long as that stays the same. */
import { Array as Arr, Clock, Context, Effect, Layer, Option, RcRef, type Redacted, type Scope } from "effect"
import { type LocalArchive, openLocally } from "../../archive/LocalOpening.ts"
import { ArchivePasswordInvalid, ArchivePasswordRequired, NoArchiveKey } from "../../domain/Failure.ts"
import { OrganizationId } from "../../domain/people/Access.ts"
import type { ArchiveCrypto, PasswordDerivation } from "../../ports/archive/ArchiveCrypto.ts"
import { ArchiveKeys } from "../../ports/archive/ArchiveKeys.ts"

/** Milliseconds after which a changed password is noticed. */
const checkedFor = 30_000

type NotOpened = ArchivePasswordInvalid | ArchivePasswordRequired | NoArchiveKey

export class BridgeArchive extends Context.Service<BridgeArchive, {
  /** Open until the scope closes. */
  readonly open: Effect.Effect<LocalArchive, NotOpened, Scope.Scope>
}>()("org-security-console/cli/bridge/BridgeArchive") {}

const missing =
  "The archive is sealed: give its password to the bridge, as CONSOLE_ARCHIVE_PASSWORD, by --password-fd, or with --ask-password in a terminal. It stays on this machine."
const wrong = "This is not the organization's archive password, which the bridge was given."

/** The organization is the connection's own: the service answers for no other. */
const own = OrganizationId.make("own")

export const layer = (password: Option.Option<Redacted.Redacted>) =>
  Layer.effect(
    BridgeArchive,
    Effect.gen(function*() {
      const keys = yield* ArchiveKeys
      const context = yield* Effect.context<ArchiveCrypto | PasswordDerivation>()
      let checkedAt = 0

      const opened = yield* RcRef.make({
        acquire: Effect.gen(function*() {
          if (Option.isNone(password)) return yield* new ArchivePasswordRequired({ message: missing })
          const wrapped = yield* keys.wrapped(own)
          if (!Arr.isReadonlyArrayNonEmpty(wrapped)) return yield* new NoArchiveKey({})
          checkedAt = yield* Clock.currentTimeMillis
          return yield* openLocally(wrapped, password.value).pipe(
            Effect.provideContext(context),
            Effect.catchTag("WrongArchivePassword", () => Effect.fail(new ArchivePasswordInvalid({ message: wrong }))),
            // A wrap that was changed opens for nobody.
            Effect.catchTag("ArchiveUnreadable", Effect.die)
          )
        }),
        idleTimeToLive: "5 minutes"
      })

      const current = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const archive = yield* RcRef.get(opened)
        if (now - checkedAt < checkedFor) return archive
        const key = yield* keys.current(own)
        checkedAt = now
        if (key?.wrapId === archive.key.wrapId) return archive
        yield* RcRef.invalidate(opened)
        return yield* RcRef.get(opened)
      })

      return BridgeArchive.of({ open: current })
    })
  )
