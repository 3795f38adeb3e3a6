import { invited } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    admin_id: "019bc0f0-4d00-7a11-8c42-6f3a90d1e7b5",
    role: "archive",
    current_password: "what the owner signs in with"
  },
  answer: {
    ...invited,
    role: "archive",
    access: {
      scope_type: "granted",
      account_ids: [],
      department_ids: [
        "019bc0e2-1280-7691-9060-dc0536cd9fd0"
      ],
      archive: true
    }
  }
} as const
