/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    request_id: "019bc0e2-1280-7136-bfce-339176563995"
  },
  answer: {
    object: "support_request",
    id: "019bc0e2-1280-7136-bfce-339176563995",
    number: 1,
    category: "api",
    subject: "Limit of a nightly export",
    message: "May our nightly export send more than 120 requests in a minute?",
    account_id: null,
    related_request_id: null,
    state: "open",
    answer: null,
    answered_at: null,
    created_by: "019bc0e2-1280-7136-bfce-3373ea8da144",
    created_at: "2026-01-15T09:00:00.000Z",
    updated_at: "2026-01-15T09:00:00.000Z"
  }
} as const
