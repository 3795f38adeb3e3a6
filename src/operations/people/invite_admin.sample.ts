import { invited } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    email: "nora@demo.example",
    role: "admin",
    access: {
      department_ids: [
        "019bc0e2-1280-7691-9060-dc0536cd9fd0"
      ]
    },
    name: "Nora New"
  },
  answer: {
    ...invited,
    invitation_expires_at: "2026-01-22T09:15:00.000Z"
  }
} as const
