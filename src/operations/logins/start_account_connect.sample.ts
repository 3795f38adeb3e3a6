import { connect } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    phone_number: "+31612340022",
    role_label: "Field engineer"
  },
  answer: connect
} as const
