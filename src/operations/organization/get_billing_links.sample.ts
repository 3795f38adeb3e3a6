/** A request and its answer in the demo organization. */
export const sample = {
  request: {},
  answer: { object: "billing_links", links: [] }
} as const
