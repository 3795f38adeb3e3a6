import { connection } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    connection_id: "019bc0e2-1280-7691-9060-dc247d8fe63a"
  },
  answer: connection
} as const
