/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    admin_id: "019bc0f0-4d00-7a11-8c42-6f3a90d1e7b5"
  },
  answer: {
    object: "admin",
    id: "019bc0f0-4d00-7a11-8c42-6f3a90d1e7b5",
    deleted: true,
    credentials_revoked: 0
  }
} as const
