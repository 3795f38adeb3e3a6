/** A request and its answer in the demo organization, for each operation of the area. */
import { licences, organization, seats, supportRequest } from "../demo.samples.ts"

export const createSupportRequest = {
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

export const getBillingLinks = {
  request: {},
  answer: { object: "billing_links", links: [] }
} as const

export const getNotificationRecipients = {
  request: {},
  answer: {
    object: "notification_settings",
    recipients: "owner_superadmins"
  }
} as const

export const getOrganization = {
  request: {},
  answer: organization
} as const

export const getStatus = {
  request: {},
  answer: {
    object: "status",
    generated_at: "2026-01-15T09:00:00.000Z",
    protection: {
      state: "attention",
      accounts: {
        protected: 5,
        new_sign_in: 2,
        recently_connected: 1,
        hijack_blocked: 1,
        status_unknown: 1,
        protection_stopped: 1,
        paused: 1,
        available: 1
      },
      sessions_to_review: 2,
      oldest_review_deadline: "2026-01-15T08:00:00.000Z",
      paused_with_pending: 0,
      unheard: false,
      last_poll_at: "2026-01-15T08:59:00.000Z"
    },
    saving: {
      state: "attention",
      saving: 4,
      stopped: 7,
      check: 2,
      reasons: {
        paused: 1,
        no_key: 0,
        storage_full: 0,
        no_archive_plan: 4,
        licence_stopped: 0,
        no_connection: 1,
        cleanup_stopped: 0,
        error: 1,
        connection_unknown: 1,
        retired: 1
      },
      chats_to_review: 0,
      failed_files: 0,
      unreadable_messages: 0,
      drift: 0,
      storage_used_bytes: 0,
      storage_limit_bytes: 50000000000
    },
    journal: {
      last_sequence: 64,
      last_event_at: "2026-01-15T07:00:00.000Z",
      chain_checked_at: null,
      chain_ok: null
    },
    service: {
      state: "ok",
      message: null
    }
  }
} as const

export const getSubscription = {
  request: {},
  answer: {
    object: "subscription",
    status: "active",
    billing_state: "active",
    managed: true,
    plan: "governance",
    period: "annual",
    licences,
    seats,
    trial_ends_at: null,
    current_period_ends_at: null,
    valid_until: null,
    cancel_at: null,
    amount: null,
    currency: null,
    payer_email: null,
    next_invoice_at: null
  }
} as const

export const getSupportRequest = {
  request: {
    request_id: "019bc0e2-1280-7136-bfce-339176563995"
  },
  answer: supportRequest
} as const

export const listSupportRequests = {
  request: {},
  answer: {
    object: "list",
    data: [
      supportRequest
    ],
    has_more: false
  }
} as const

export const setNotificationRecipients = {
  request: {
    recipients: "owner_superadmins"
  },
  answer: {
    object: "notification_settings",
    recipients: "owner_superadmins"
  }
} as const
