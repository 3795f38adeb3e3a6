/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    admin_id: "019bc0f0-4d00-7a11-8c42-6f3a90d1e7b5"
  },
  answer: {
    object: "admin",
    id: "019bc0f0-4d00-7a11-8c42-6f3a90d1e7b5",
    email: "nora@demo.example",
    name: "Nora New",
    role: "archive",
    status: "disabled",
    access: {
      scope_type: "granted",
      account_ids: [],
      department_ids: [
        "019bc0e2-1280-7691-9060-dc0536cd9fd0",
        "019bc0e2-1280-7691-9060-dc06a2f0c1b4"
      ],
      archive: true
    },
    mine: false,
    invitation_expires_at: "2026-01-22T09:16:00.000Z",
    joined_at: null,
    last_active_at: null,
    disabled_at: "2026-01-15T09:19:00.000Z",
    credentials: 0
  }
} as const
