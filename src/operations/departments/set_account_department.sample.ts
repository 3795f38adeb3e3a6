/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    account_id: "019bc0e2-1280-7691-9060-dc1c794fba00",
    department_id: "019bc0e2-1280-7691-9060-dc0536cd9fd0"
  },
  answer: {
    object: "account",
    id: "019bc0e2-1280-7691-9060-dc1c794fba00",
    name: "amara_at_demo",
    phone_number: "+31612340012",
    role_label: "Board secretary",
    department_id: "019bc0e2-1280-7691-9060-dc0536cd9fd0",
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
    }
  }
} as const
