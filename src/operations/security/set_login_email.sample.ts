/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea",
    email: "amara.new@example.com"
  },
  answer: {
    object: "email_change",
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea",
    kind: "login",
    email_pattern: "a*****w@example.com",
    code_length: 6,
    state: "code_sent",
    attempts_left: 5,
    expires_at: "2026-01-15T09:56:00.000Z"
  }
} as const
