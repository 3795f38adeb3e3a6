/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    department_id: "019bc0ec-2500-7344-9a3e-5b0d6a31c7f2"
  },
  answer: {
    object: "department",
    id: "019bc0ec-2500-7344-9a3e-5b0d6a31c7f2",
    deleted: true
  }
} as const
