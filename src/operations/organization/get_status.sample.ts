/** A request and its answer in the demo organization. */
export const sample = {
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
      storage_used_bytes: 936000000,
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
