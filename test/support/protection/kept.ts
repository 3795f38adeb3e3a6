/** An account in memory as the service has it stored, and what follows from that alone. */
import { AccountId } from "../../../src/domain/accounts/Account.ts"
import { deriveStatus } from "../../../src/domain/accounts/ProtectionStatus.ts"
import type { GuardedAccount, ProtectionFacts, WatchedSession } from "../../../src/domain/protection/Facts.ts"
import type { ServiceSession } from "../../../src/domain/protection/ServiceSession.ts"
import { day } from "../stored.ts"
import { Model } from "./model.ts"
import { ownDevice, Platform, sessionRef } from "./platform.ts"

/** An account with its sessions, as the service has them stored beside a platform and the model of its rules. */
export class Kept {
  now: number
  readonly platform: Platform
  readonly model: Model
  facts: ProtectionFacts
  connectedAt: Date

  constructor(at: number, before: number, ownIds: boolean) {
    this.now = at
    this.platform = new Platform(ownIds)
    for (let count = 0; count < before; count++) this.platform.signIn(at - (count + 1) * day)
    const main = this.platform.signIn(at, ownDevice)
    this.model = new Model(at)
    this.connectedAt = new Date(at)
    this.facts = {
      lockdown: true,
      away: false,
      account: {
        id: AccountId.make("0196f0a0-0000-7000-8000-000000000001"),
        phone_number: "+4915112345678",
        first_name: "Ada",
        last_name: null,
        username: null,
        recovery: null,
        offboarded_at: null,
        paused_at: null,
        resumed_at: null,
        stopped_at: null,
        monitoring_state: "active",
        takeover_stopped_at: null,
        enforcement_active_at: new Date(this.created(main) + day),
        locked_at: null,
        lock_reason: null,
        security_lock: false,
        paired_state: "none",
        paired_since: null,
        paired_error: null,
        baselined: false,
        two_fa_managed: false,
        login_open: false
      },
      sessions: [],
      own: [this.own(main, "main", null)],
      monitor: {
        started_at: new Date(at),
        last_ok_at: null,
        last_poll_error: null,
        failures: 0,
        first_failure_at: null,
        flood_until: null,
        sign_out_retry_at: null,
        look_at: null
      },
      facets: {},
      endedOutside: []
    }
  }

  own(id: string, slot: ServiceSession["slot"], seen_as: string | null): ServiceSession {
    return { id, slot, session_ref: sessionRef(id), seen_as, created_at: new Date(this.created(id)) }
  }

  created(id: string): number {
    return this.platform.devices.get(id)?.createdAt ?? 0
  }

  get account(): GuardedAccount {
    return this.facts.account
  }

  change(account: Partial<GuardedAccount>): void {
    this.facts = { ...this.facts, account: { ...this.account, ...account } }
  }

  rows(change: (row: WatchedSession) => WatchedSession): void {
    this.facts = { ...this.facts, sessions: this.facts.sessions.map(change) }
  }

  /** The session that read the last list. */
  get reader(): string {
    return this.facts.facets.through ?? this.facts.own[0]?.id ?? ""
  }

  real(row: { readonly id: string }): string {
    return this.platform.real(row.id, this.reader)
  }

  /** The service's live sessions that act for it. */
  acting(): ReadonlyArray<string> {
    return this.facts.own.filter(({ id, slot }) =>
      (slot === "main" || slot === "paired") && this.platform.devices.has(id)
    ).map(({ id }) => id)
  }

  enforcement(): number {
    const acting = this.facts.own.filter(({ slot }) => slot === "main" || slot === "paired")
      .map(({ created_at }) => created_at.getTime() + day)
    return acting.length === 0 ? this.account.enforcement_active_at?.getTime() ?? 0 : Math.min(...acting)
  }

  status(): string {
    return deriveStatus({
      ...this.account,
      connected_at: this.connectedAt,
      review_pending: this.facts.sessions.some((row) =>
        !row.service && row.approved_at === null && row.review_deadline !== null
      )
    }, new Date(this.now))
  }
}
