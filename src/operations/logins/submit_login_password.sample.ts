import { connect } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    login_id: "019bc0e2-9d40-7691-9060-dc1c794fbb01",
    password: "blue bicycle"
  },
  answer: {
    ...connect,
    account_id: "019bc0e2-1280-7691-9060-dc1c794fbb03",
    state: "completed",
    resend_at: null,
    password_hint: "what you ride, and its colour",
    expires_at: "2026-01-15T09:44:00.000Z"
  }
} as const
