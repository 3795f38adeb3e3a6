import { supportRequest } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {},
  answer: {
    object: "list",
    data: [
      supportRequest
    ],
    has_more: false
  }
} as const
