/** A request and its answer in the demo organization, for each operation of the area. */
import { account, acted, archivedAccount, people, profile, seats } from "../demo.samples.ts"

export const findAccounts = {
  request: { query: "amara", limit: 2 },
  answer: {
    object: "list",
    data: [
      archivedAccount
    ],
    has_more: false
  }
} as const

export const getAccount = {
  request: { account_id: people.numbered },
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

export const getAccountMessengerProfile = {
  request: { account_id: people.numbered },
  answer: profile
} as const

export const listProtectedAccounts = {
  request: { limit: 2 },
  answer: {
    object: "list",
    data: [
      account,
      archivedAccount
    ],
    has_more: true
  }
} as const

export const pauseProtection = {
  request: { account_id: people.numbered },
  answer: acted(people.numbered, "paused", "paused")
} as const

export const resumeProtection = {
  request: { account_id: people.numbered },
  answer: acted(people.numbered, "resumed", "protected")
} as const

export const setAccountRoleLabel = {
  request: { account_id: people.numbered, role_label: "Board secretary" },
  answer: {
    ...account,
    role_label: "Board secretary"
  }
} as const

export const setMessengerUsername = {
  request: { account_id: people.numbered, username: "amara_at_demo" },
  answer: {
    ...profile,
    username: "amara_at_demo",
    about: "Back in the office on Monday"
  }
} as const

export const updateMessengerProfile = {
  request: { account_id: people.numbered, about: "Back in the office on Monday" },
  answer: {
    ...profile,
    about: "Back in the office on Monday"
  }
} as const
