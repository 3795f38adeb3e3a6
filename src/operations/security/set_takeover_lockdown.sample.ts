/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    enabled: false
  },
  answer: {
    object: "organization",
    id: "demo",
    name: "Demo Organization",
    status: "active",
    valid_until: null,
    protection_active: true,
    plan: {
      billing_state: "active",
      managed: true,
      plan: "governance",
      period: "annual",
      licences: {
        protect: 10,
        archive: 10,
        governance: 5
      }
    },
    seats: {
      limit: 25,
      used: 12,
      reserved: 2,
      free: 11
    },
    archive: {
      key_set: true,
      plan: true,
      readable: true,
      writable: true,
      phase: "active"
    },
    tamper_lockdown_enabled: false
  }
} as const
