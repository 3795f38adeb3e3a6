/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    limit: 2
  },
  answer: {
    object: "list",
    data: [
      {
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
        }
      },
      {
        object: "account",
        id: "019bc0e2-1280-7691-9060-dc11e65f72ea",
        name: "Amara Okafor",
        phone_number: "+31612340001",
        role_label: "Chief executive",
        department_id: "019bc0e2-1280-7691-9060-dc0536cd9fd0",
        status: "protected",
        licence_tier: "governance",
        joined_at: "2025-12-16T09:00:00.000Z",
        offboarded_at: null,
        archive: {
          has_key: true,
          status: "idle",
          messages: 48210,
          media: 5356,
          bytes: 202482000,
          last_backup_at: "2026-01-15T04:00:00.000Z",
          next_backup_at: "2026-01-16T04:00:00.000Z",
          updated_at: "2026-01-15T08:48:00.000Z",
          live_archive: true,
          error: null,
          phase: null,
          running: null,
          chats: {
            discovered: 163,
            selected: 122,
            with_data: 116,
            complete: 108,
            review: 1
          },
          saving: {
            state: "saving",
            reason: null,
            stopped_chats: 0,
            last_sync_at: "2026-01-15T08:59:00.000Z"
          }
        }
      }
    ],
    has_more: true
  }
} as const
