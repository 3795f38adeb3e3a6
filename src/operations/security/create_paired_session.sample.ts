/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    account_id: "019bc0e2-1280-717f-bf3b-1f94c07e9929"
  },
  answer: {
    object: "account_action",
    account_id: "019bc0e2-1280-717f-bf3b-1f94c07e9929",
    action: "paired_session_created"
  }
} as const
