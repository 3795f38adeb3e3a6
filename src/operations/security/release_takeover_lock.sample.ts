/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    account_id: "019bc0e2-1280-717f-bf3b-1f9685ebb3d5"
  },
  answer: {
    object: "account_action",
    account_id: "019bc0e2-1280-717f-bf3b-1f9685ebb3d5",
    action: "takeover_lock_released"
  }
} as const
