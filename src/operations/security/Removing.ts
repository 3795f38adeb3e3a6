/** The removal of the service's own 2FA password and passkey from an account. */
import { Effect } from "effect"
import type { ChangeFailure } from "../../changes/Intent.ts"
import type { AccountSecurity } from "../../domain/messenger/Messenger.ts"
import type { Facets } from "../../domain/protection/Facts.ts"
import type { SecretKind } from "../../domain/security/Secrets.ts"
import { acted } from "../../domain/sessions/SessionReview.ts"
import type { GuardedContext, MessengerContext } from "../../kernel/Context.ts"
import { Secrets } from "../../ports/security/Secrets.ts"
import { byLook, ofAccount, prepare, type SeenSecurity } from "./Securing.ts"

/** A secret that the service holds and the account has. */
export interface Removal<Secret> {
  readonly seen: SeenSecurity
  readonly secret: Secret
}

/** The steps of removing such a secret: it is not held while the outcome is unknown, and is again where it failed. */
export const removing = <Secret extends { readonly id: string }>(
  kind: SecretKind,
  touched: ReadonlyArray<keyof Facets>,
  did: string
) => ({
  ...byLook,
  prepare: Effect.fnUntraced(function*({ seen }: Removal<Secret>, _: number, context: GuardedContext) {
    yield* prepare(seen, touched, context)
    yield* (yield* Secrets).suspend(ofAccount(context), kind)
  }),
  failed: Effect.fnUntraced(
    function*({ secret }: Removal<Secret>, { certain }: ChangeFailure, context: GuardedContext) {
      if (!certain) return
      yield* (yield* Secrets).move(ofAccount(context), [{ id: secret.id, slot: "held" }], context.now)
    }
  ),
  answer: (_: Removal<Secret>, __: AccountSecurity | undefined, { account, now }: MessengerContext) =>
    Effect.succeed(acted(did, account, null, now))
})
