import { organization } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {},
  answer: organization
} as const
