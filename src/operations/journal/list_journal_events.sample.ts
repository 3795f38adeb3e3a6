import { event } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    action: "organization.created"
  },
  answer: {
    object: "list",
    data: [
      event
    ],
    has_more: false,
    last_sequence: 64
  }
} as const
