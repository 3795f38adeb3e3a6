/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea"
  },
  answer: {
    object: "account_action",
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea",
    action: "two_fa_set"
  }
} as const
