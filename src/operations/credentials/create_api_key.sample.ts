/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    label: "Nightly export",
    scopes: [
      "org:read"
    ]
  },
  answer: {
    object: "api_key",
    id: "019bc0e9-6580-71ed-9fe1-b9a5e50e8030",
    label: "Nightly export",
    scopes: [
      "org:read"
    ],
    owner_email: "olivia@demo.example",
    mine: true,
    created_at: "2026-01-15T09:08:00.000Z",
    last_used_at: null,
    expires_at: "2026-04-15T09:00:00.000Z",
    revoked_at: null,
    secret: "osc_live_..."
  }
} as const
