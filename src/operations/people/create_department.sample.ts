/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    name: "Legal"
  },
  answer: {
    object: "department",
    id: "019bc0ec-2500-7344-9a3e-5b0d6a31c7f2",
    name: "Legal",
    accounts: 0,
    created_at: "2026-01-15T09:11:00.000Z"
  }
} as const
