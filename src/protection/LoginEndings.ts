/** Ends logins whose step has not ended: they expire, are taken back, or are found to have signed in. */
import { Clock, Context, Duration, Effect, Layer } from "effect"
import { byService, record } from "../changes/Record.ts"
import type { ServiceUnavailable } from "../domain/Failure.ts"
import type { ActionName } from "../domain/journal/JournalEntry.ts"
import { loginLeftTried, messengerTimeout } from "../domain/Limits.ts"
import type { LoginFacts } from "../domain/logins/Login.ts"
import type { OrganizationId } from "../domain/people/Access.ts"
import { Db } from "../ports/Db.ts"
import type { Journal } from "../ports/journal/Journal.ts"
import { type HeldLogin, Logins } from "../ports/logins/Logins.ts"
import type { Outbox } from "../ports/mail/Outbox.ts"
import type { SealedLoginState } from "../ports/messenger/MessengerLogin.ts"
import { MessengerSession } from "../ports/messenger/MessengerSession.ts"
import { Organizations } from "../ports/organization/Organizations.ts"

/** The services that ending and resolving a login needs. */
export type LoginServices = Db | Journal | Logins | MessengerSession | Organizations | Outbox

const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))

/** Journals what became of a login; a code says why it has failed. */
const recordLogin = (
  organizationId: OrganizationId,
  action: ActionName,
  { account_id, id, kind, phone_number }: LoginFacts,
  code?: string
) => {
  const details = { phone_number, kind, ...(code === undefined ? {} : { code }) }
  const outcome = code === undefined ? "done" : "failed"
  return record(byService(organizationId), action, { id, accountId: account_id }, details, [], outcome)
}

/** Ends it on the messenger; false where that is not known to have happened. */
const cancel = (state: SealedLoginState) =>
  MessengerSession.use((messenger) =>
    messenger.cancel(state).pipe(
      Effect.as(true),
      Effect.timeoutOrElse({ duration: messengerTimeout, orElse: () => Effect.succeed(false) }),
      Effect.orElseSucceed(() => false)
    )
  )

const leave = Effect.fnUntraced(function*(held: HeldLogin) {
  const db = yield* Db
  const logins = yield* Logins
  const done = held.state === null || (yield* cancel(held.state))
  const { ended_at } = held.login
  const givenUp = ended_at !== null &&
    ended_at.getTime() + Duration.toMillis(loginLeftTried) <= (yield* Clock.currentTimeMillis)
  yield* db.transaction(held.organizationId, logins.leave(held, !done && !givenUp))
})

const hold = Effect.fnUntraced(function*(organizationId: OrganizationId, id: string) {
  const db = yield* Db
  const logins = yield* Logins
  return yield* db.transaction(organizationId, Effect.flatMap(now, (at) => logins.hold(organizationId, id, {}, at)))
})

/** Ends one login that has run out, and takes back what an ended one has left on the messenger. */
const end = Effect.fnUntraced(function*(organizationId: OrganizationId, id: string) {
  const db = yield* Db
  const logins = yield* Logins
  yield* db.transaction(
    organizationId,
    Effect.gen(function*() {
      const at = yield* now
      const login = yield* logins.read(organizationId, id)
      if (login === null || login.ended_at !== null || login.expires_at > at) return
      const ended = yield* logins.end(organizationId, id, "expired", at)
      if (ended !== null) yield* recordLogin(organizationId, "login.expired", ended)
    })
  )
  const held = yield* hold(organizationId, id)
  if (held !== null) yield* leave(held)
})

/**
 * Finds out how the step of a relogin went whose end was lost, so that the service's own session is not taken for a
 * stranger's; returns true if that is known now.
 */
export const resolve = Effect.fnUntraced(function*(organizationId: OrganizationId, id: string) {
  const db = yield* Db
  const logins = yield* Logins
  const messenger = yield* MessengerSession
  const organizations = yield* Organizations
  const held = yield* hold(organizationId, id)
  if (held === null) return false
  const found = held.state === null ? null : yield* messenger.resolve(held.state).pipe(
    Effect.timeoutOrElse({ duration: messengerTimeout, orElse: () => Effect.succeed("unknown" as const) }),
    Effect.orElseSucceed(() => "unknown" as const)
  )
  if (found === "unknown" || found === null) {
    const how = found === null ? "release" : "unsettled"
    yield* db.transaction(organizationId, Effect.flatMap(now, (at) => logins.finishStep(held, {}, how, at)))
    return found === null
  }
  yield* db.transaction(
    organizationId,
    Effect.gen(function*() {
      const organization = yield* organizations.lockFacts(organizationId)
      const context = { caller: null, organization, now: yield* now }
      const { accountId, login } = yield* logins.complete(held, found, null, context)
      yield* recordLogin(organizationId, "login.completed", login)
      yield* record(byService(organizationId), "account.reconnected", { id: accountId, accountId })
    })
  ).pipe(
    Effect.catchTags({
      LoginEnded: () => leave(held),
      LoginRefusal: ({ reason }) =>
        db.transaction(
          organizationId,
          Effect.gen(function*() {
            const failed = yield* logins.finishStep(held, { state: "failed", error: reason }, "keep", yield* now)
            if (failed !== null) yield* recordLogin(organizationId, "login.failed", failed, reason)
          })
        ).pipe(Effect.andThen(leave(held)))
    })
  )
  return true
})

/** The job that ends logins, in a process that has the messenger. */
export class LoginEndings extends Context.Service<LoginEndings, {
  readonly end: Effect.Effect<void, ServiceUnavailable>
}>()("org-security-console/protection/LoginEndings") {
  static readonly layer = Layer.effect(
    LoginEndings,
    Effect.gen(function*() {
      const services = yield* Effect.context<LoginServices>()
      const logins = yield* Logins
      return {
        end: Effect.flatMap(now, (at) => logins.left(at)).pipe(
          Effect.flatMap((left) =>
            Effect.forEach(left, ({ id, organizationId }) => end(organizationId, id), { discard: true })
          ),
          Effect.provideContext(services)
        )
      }
    })
  )
}
