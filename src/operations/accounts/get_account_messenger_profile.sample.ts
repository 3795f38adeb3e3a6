import { profile } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    account_id: "019bc0e2-1280-7691-9060-dc1c794fba00"
  },
  answer: profile
} as const
