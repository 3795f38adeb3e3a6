/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    "login_id": "019bc0e2-9d40-7691-9060-dc1c794fbb01",
    "code": "12345"
  },
  answer: {
    "object": "login",
    "id": "019bc0e2-9d40-7691-9060-dc1c794fbb01",
    "kind": "connect",
    "account_id": null,
    "phone_number": "+31612340022",
    "state": "password_needed",
    "code_delivery": "app",
    "code_length": 5,
    "resend_at": null,
    "password_hint": "what you ride, and its colour",
    "attempts_left": 5,
    "error": null,
    "expires_at": "2026-01-15T09:43:00.000Z",
    "created_at": "2026-01-15T09:30:00.000Z"
  }
} as const
