/** How an organization's accounts stood over time: counts by status, sampled now and then. */
import type { AccountStatus } from "./ProtectionStatus.ts"

/** How many accounts were in each status from a moment on, until the next sample; those that it leaves out had none. */
export interface StatusSample {
  readonly at: Date
  readonly accounts: { readonly [status in AccountStatus]?: number }
}
