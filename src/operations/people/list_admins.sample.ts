import { superadmin } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    role: "superadmin"
  },
  answer: {
    object: "list",
    data: [
      superadmin
    ],
    has_more: false
  }
} as const
