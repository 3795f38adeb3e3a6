import { account, archivedAccount } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    limit: 2
  },
  answer: {
    object: "list",
    data: [
      account,
      archivedAccount
    ],
    has_more: true
  }
} as const
