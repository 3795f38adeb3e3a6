/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    account_id: "019bc0e2-1280-717f-bf3b-1f94c07e9929",
    session_id: "308566483397241555"
  },
  answer: {
    object: "account_action",
    account_id: "019bc0e2-1280-717f-bf3b-1f94c07e9929",
    action: "session_signed_out",
    status: "protected"
  }
} as const
