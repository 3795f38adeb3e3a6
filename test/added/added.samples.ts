/** A request and its answer in the demo organization, for the operation that the tests add. */
export const retireLabel = {
  request: {
    account_id: "019bc0e2-1280-7691-9060-dc1c794fba00",
    reason: "Left the board"
  },
  answer: {
    object: "account_action",
    account_id: "019bc0e2-1280-7691-9060-dc1c794fba00",
    action: "label_retired"
  }
} as const
