/** The ends of API keys, and what was reported of them. */
import { Context, type Effect } from "effect"
import type { ServiceUnavailable } from "../../domain/Failure.ts"
import type { OrganizationId } from "../../domain/people/Access.ts"
import type { Due } from "../Due.ts"

export interface ExpiringKey {
  readonly id: string
  readonly admin_id: string
  readonly label: string
  readonly expires_at: Date
  readonly ended: boolean
}

export class KeyExpiry extends Context.Service<KeyExpiry, {
  /**
   * Keys of open organizations that have ended without a report, or end until `soon` without one and were made until
   * `age`.
   */
  due(
    moments: { readonly now: Date; readonly soon: Date; readonly age: Date },
    limit: number
  ): Effect.Effect<ReadonlyArray<Due>, ServiceUnavailable>
  /**
   * Those that were neither revoked nor reported meanwhile, held from here on; rows that others have locked are skipped.
   */
  hold(
    organizationId: OrganizationId,
    ids: ReadonlyArray<string>,
    now: Date
  ): Effect.Effect<ReadonlyArray<ExpiringKey>>
  setReported(organizationId: OrganizationId, key: ExpiringKey): Effect.Effect<void>
}>()("org-security-console/ports/credentials/KeyExpiry") {}
