import { organization } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    enabled: false
  },
  answer: {
    ...organization,
    tamper_lockdown_enabled: false
  }
} as const
