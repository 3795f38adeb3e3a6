/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    limit: 2
  },
  answer: {
    object: "list",
    data: [
      {
        object: "department",
        id: "019bc0e2-1280-7691-9060-dc0536cd9fd0",
        name: "Board",
        accounts: 2,
        created_at: "2026-01-15T09:00:00.000Z"
      },
      {
        object: "department",
        id: "019bc0e2-1280-7691-9060-dc06a2f0c1b4",
        name: "Finance",
        accounts: 3,
        created_at: "2026-01-15T09:00:00.000Z"
      }
    ],
    has_more: true
  }
} as const
