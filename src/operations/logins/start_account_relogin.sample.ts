import { relogin } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    account_id: "019bc0e2-1280-7691-9060-dc1c794fba00"
  },
  answer: {
    ...relogin,
    code_delivery: "app",
    resend_at: "2026-01-15T09:32:00.000Z",
    expires_at: "2026-01-15T09:41:00.000Z"
  }
} as const
