/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    connection_id: "019bc0e2-1280-7691-9060-dc247d8fe63a"
  },
  answer: {
    object: "ai_connection",
    id: "019bc0e2-1280-7691-9060-dc247d8fe63a",
    kind: "oauth",
    label: "Totally official",
    client: {
      name: "Assistant A (verified ✅) <b>trust me</b>",
      host: "phish.example",
      known: null
    },
    mode: "cloud",
    scopes: [
      "org:read"
    ],
    scope_type: "departments",
    all_accounts: false,
    account_ids: [],
    department_ids: [
      "019bc0e2-1280-7691-9060-dc08dcd69a2d"
    ],
    owner_email: "ada@demo.example",
    mine: false,
    has_stored_password: false,
    created_at: "2026-01-12T09:00:00.000Z",
    last_used_at: null,
    expires_at: null,
    revoked_at: "2026-01-13T09:00:00.000Z"
  }
} as const
