import { supportRequest } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    request_id: "019bc0e2-1280-7136-bfce-339176563995"
  },
  answer: supportRequest
} as const
