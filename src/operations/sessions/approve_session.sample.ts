/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    account_id: "019bc0e2-1280-717f-bf3b-1f9f117ad436",
    session_id: "4126942284230553172"
  },
  answer: {
    object: "account_action",
    account_id: "019bc0e2-1280-717f-bf3b-1f9f117ad436",
    action: "session_approved",
    status: "protected"
  }
} as const
