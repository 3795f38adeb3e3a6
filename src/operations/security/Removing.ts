/** The removal of the service's own 2FA password and passkey from an account. */
import { Effect } from "effect"
import type { Facets } from "../../domain/protection/Facts.ts"
import type { SecretKind } from "../../domain/security/Secrets.ts"
import type { GuardedContext } from "../../kernel/Context.ts"
import type { ChangeFailure } from "../../kernel/runners/MessengerChangeSteps.ts"
import { Secrets } from "../../ports/security/Secrets.ts"
import { byLook, looked, needing, ofAccount, prepare, type SeenSecurity } from "./Securing.ts"

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
  ...byLook<Removal<Secret>>(did),
  prepare: (plan: Removal<Secret> | null, _: number, { account, caller, now }: GuardedContext) =>
    needing(Effect.gen(function*() {
      const { seen } = yield* looked(plan)
      yield* prepare(seen, touched, { account, caller }, now)
      yield* (yield* Secrets).suspend(ofAccount({ account, caller }), kind)
    })),
  failed: (plan: Removal<Secret> | null, { certain }: ChangeFailure, { account, caller, now }: GuardedContext) =>
    needing(Effect.gen(function*() {
      if (!certain) return
      const { secret } = yield* looked(plan)
      yield* (yield* Secrets).move(ofAccount({ account, caller }), [{ id: secret.id, slot: "held" }], now)
    }))
})
