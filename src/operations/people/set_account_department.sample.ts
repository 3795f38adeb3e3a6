import { account } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    account_id: "019bc0e2-1280-7691-9060-dc1c794fba00",
    department_id: "019bc0e2-1280-7691-9060-dc0536cd9fd0"
  },
  answer: {
    ...account,
    name: "amara_at_demo",
    role_label: "Board secretary",
    department_id: "019bc0e2-1280-7691-9060-dc0536cd9fd0"
  }
} as const
