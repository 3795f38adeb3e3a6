import { account, seats } from "../Demo.sample.ts"

/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    account_id: "019bc0e2-1280-7691-9060-dc1c794fba00"
  },
  answer: {
    ...account,
    messenger_user_id: "9000000000000031",
    licence: {
      uses_licence: true,
      ...seats
    },
    archive_consent_at: null,
    monitoring: {
      state: "active",
      last_polled_at: "2026-01-15T08:59:00.000Z",
      last_poll_error: null,
      enrolled_at: "2025-12-16T09:00:00.000Z",
      enforcement_active_at: "2025-12-17T09:00:00.000Z",
      recovery: null
    },
    sessions: [
      {
        object: "session",
        id: "5693942974600405550",
        current: true,
        service_session: true,
        device_model: "Server",
        platform: "Linux",
        app_name: "Organization Security Console",
        app_version: null,
        ip: null,
        country: null,
        last_active_at: "2026-01-15T08:59:00.000Z",
        created_at: "2025-12-16T09:00:00.000Z",
        approved: true,
        review_deadline: null,
        sign_out_queued: false,
        can_sign_out: true
      }
    ],
    terminations: [],
    tamper: {
      locked_at: null,
      reason: null
    },
    security_lock: {
      enabled: false
    }
  }
} as const
