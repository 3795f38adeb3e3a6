import { invited } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    admin_id: "019bc0f0-4d00-7a11-8c42-6f3a90d1e7b5"
  },
  answer: invited
} as const
