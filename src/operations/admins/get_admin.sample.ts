/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    admin_id: "019bc0e2-1280-7691-9060-dc08000010a4"
  },
  answer: {
    object: "admin",
    id: "019bc0e2-1280-7691-9060-dc08000010a4",
    email: "sam@demo.example",
    name: "Sam Superadmin",
    role: "superadmin",
    status: "active",
    access: {
      scope_type: "all",
      account_ids: [],
      department_ids: [],
      archive: true
    },
    mine: false,
    invitation_expires_at: null,
    joined_at: "2026-01-15T09:00:00.000Z",
    last_active_at: "2025-10-12T09:00:00.000Z",
    disabled_at: null,
    credentials: 0
  }
} as const
