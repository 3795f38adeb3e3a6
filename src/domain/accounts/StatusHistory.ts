/** The statuses of an organization's accounts over time: counts by status, sampled now and then. */
import type { AccountStatus } from "./ProtectionStatus.ts"

/** The number of accounts in each status from a moment on, until the next sample; those that it leaves out had none. */
export interface StatusSample {
  readonly at: Date
  readonly accounts: { readonly [status in AccountStatus]?: number }
}
