/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    "login_id": "019bc0e2-9d40-7691-9060-dc1c794fbb01"
  },
  answer: {
    "object": "login",
    "id": "019bc0e2-9d40-7691-9060-dc1c794fbb01",
    "kind": "connect",
    "account_id": null,
    "phone_number": "+31612340022",
    "state": "code_sent",
    "code_delivery": "app",
    "code_length": 5,
    "resend_at": "2026-01-15T09:31:00.000Z",
    "password_hint": null,
    "attempts_left": 5,
    "error": null,
    "expires_at": "2026-01-15T09:40:00.000Z",
    "created_at": "2026-01-15T09:30:00.000Z"
  }
} as const
