import { superadmin } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    admin_id: "019bc0e2-1280-7691-9060-dc08000010a4"
  },
  answer: superadmin
} as const
