/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    category: "protection",
    subject: "A sign-in that nobody knows",
    message: "Where does the address of a new session come from?"
  },
  answer: {
    object: "support_request",
    id: "019bc0ef-ce80-7136-bfce-3398eb73036f",
    number: 2,
    category: "protection",
    subject: "A sign-in that nobody knows",
    message: "Where does the address of a new session come from?",
    account_id: null,
    related_request_id: null,
    state: "open",
    answer: null,
    answered_at: null,
    created_by: "019bc0e2-1280-7136-bfce-3373ea8da144",
    created_at: "2026-01-15T09:23:00.000Z",
    updated_at: "2026-01-15T09:23:00.000Z"
  }
} as const
