import { event } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    limit: 2
  },
  answer: {
    object: "list",
    data: [
      event
    ],
    has_more: false,
    last_sequence: 1
  }
} as const
