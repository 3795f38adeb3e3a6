import { relogin } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    login_id: "019bc0e2-9d40-7691-9060-dc1c794fbb02"
  },
  answer: relogin
} as const
