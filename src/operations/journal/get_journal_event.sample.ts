import { event } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    event_id: "019bc0e2-1280-7691-9060-dc278a782e64"
  },
  answer: event
} as const
