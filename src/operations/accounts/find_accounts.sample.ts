import { archivedAccount } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    query: "amara",
    limit: 2
  },
  answer: {
    object: "list",
    data: [
      archivedAccount
    ],
    has_more: false
  }
} as const
