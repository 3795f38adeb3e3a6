/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    account_id: "019bc0e2-1280-7691-9060-dc1c794fba00"
  },
  answer: {
    object: "account",
    id: "019bc0e2-1280-7691-9060-dc1c794fba00",
    name: "+31612340012",
    phone_number: "+31612340012",
    role_label: null,
    department_id: "019bc0e2-1280-7691-9060-dc077018650d",
    status: "protected",
    licence_tier: "protect",
    joined_at: "2025-12-16T09:00:00.000Z",
    offboarded_at: null,
    archive: {
      has_key: true,
      status: "disabled",
      messages: 0,
      media: 0,
      bytes: 0,
      last_backup_at: null,
      next_backup_at: null,
      updated_at: null,
      live_archive: false,
      error: null,
      phase: null,
      running: null,
      chats: {
        discovered: 0,
        selected: 0,
        with_data: 0,
        complete: 0,
        review: 0
      },
      saving: {
        state: "stopped",
        reason: "no_archive_plan",
        stopped_chats: 0,
        last_sync_at: null
      }
    },
    messenger_user_id: "6000000031",
    licence: {
      uses_licence: true,
      limit: 25,
      used: 12,
      reserved: 2,
      free: 11
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
