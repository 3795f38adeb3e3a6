import { event } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    limit: 1
  },
  answer: {
    object: "list",
    data: [
      event
    ],
    has_more: true,
    last_sequence: 64,
    head_hash: "3824acf3b8efc2eef9666150e0fece9929bdac2aa76089ab2a5a6460e37f19f1"
  }
} as const
