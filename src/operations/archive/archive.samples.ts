/** A request and its answer in the demo organization, for each operation of the area. */
import { organization } from "../demo.samples.ts"

const account = { account_id: "019bc0e2-1280-7092-b899-5ab87f4740e9" } as const

/** The chat of most of the samples' messages. */
const place = { ...account, chat_id: "5000000002" } as const

const bram = { id: "5000000002", name: "Bram de Vries", username: "bram_dv" } as const

/** The members of most messages after their text. */
const plain = {
  caption: null,
  transcript: null,
  reply_to_id: null,
  forwarded_from: null,
  kind: "text",
  files: [],
  edited_at: null,
  edits: 0,
  deleted_at: null,
  deleted_reason: null,
  album_id: null,
  topic_id: null,
  expires_at: null,
  redacted_at: null,
  archived_at: "2026-01-15T09:00:00.000Z"
} as const

const sent = {
  object: "message",
  id: "3",
  ...place,
  sent_at: "2026-01-13T07:00:00.000Z",
  from: bram,
  outgoing: false,
  text: "Then I send the invoice to Lindqvist today.",
  ...plain,
  reply_to_id: "2"
} as const

const edited = {
  object: "message",
  id: "4",
  ...place,
  sent_at: "2026-01-14T06:00:00.000Z",
  from: { id: "31612340005", name: "Élodie Marchand", username: "elodie_m" },
  outgoing: true,
  text: "They want 30 days instead of 14, and a discount of 2 %. D'accord?",
  ...plain,
  edited_at: "2026-01-14T07:00:00.000Z",
  edits: 1
} as const

const answered = {
  object: "message",
  id: "5",
  ...place,
  sent_at: "2026-01-14T07:00:00.000Z",
  from: bram,
  outgoing: false,
  text: "30 days yes, no discount.",
  ...plain
} as const

const deleted = {
  object: "message",
  id: "6",
  ...place,
  sent_at: "2026-01-15T06:00:00.000Z",
  from: bram,
  outgoing: false,
  text: "Forget what I wrote about the discount.",
  ...plain,
  deleted_at: "2026-01-15T09:00:00.000Z",
  deleted_reason: "deleted"
} as const

const chat = {
  object: "chat",
  id: "5000000002",
  ...account,
  type: "private",
  title: "Bram de Vries",
  username: "bram_dv",
  members_count: null,
  selected: true,
  effect: "archive",
  complete: true,
  complete_back_to: null,
  protected: false,
  migrated_to: null,
  messages: 6,
  files: 0,
  first_message_at: "2026-01-13T05:00:00.000Z",
  last_message_at: "2026-01-15T06:00:00.000Z",
  left_at: null
} as const

export const deleteAccountWithArchive = {
  request: {
    account_id: "019bc0e2-1280-717f-bf3b-1f94c07e9929",
    confirm_phrase: "delete 31612340002"
  },
  answer: {
    object: "account_action",
    account_id: "019bc0e2-1280-717f-bf3b-1f94c07e9929",
    action: "account_deleted"
  }
} as const

export const deleteWholeArchive = {
  request: {
    confirm_phrase: "delete archive demo"
  },
  answer: {
    ...organization,
    archive: {
      ...organization.archive,
      key_set: false,
      readable: false,
      writable: false,
      phase: "deleting"
    },
    tamper_lockdown_enabled: false
  }
} as const

export const getChat = {
  request: {
    ...place
  },
  answer: chat
} as const

export const getMessage = {
  request: {
    ...place,
    message_id: "4",
    around: 1
  },
  answer: {
    ...edited,
    context: [
      sent,
      answered
    ],
    unreadable: 0
  }
} as const

export const listAccounts = {
  request: {
    limit: 2,
    starting_after: "019bc0e2-1280-717f-bf3b-1f9f117ad436"
  },
  answer: {
    object: "list",
    data: [
      {
        object: "archive_account",
        id: "019bc0e2-1280-7092-b899-5ab87f4740e8",
        name: "no_name_here",
        phone_number: "+31612340011",
        chats: 0,
        messages: 0,
        files: 0,
        first_message_at: null,
        last_message_at: null,
        saving: {
          state: "stopped",
          reason: "no_archive_plan",
          stopped_chats: 0,
          last_sync_at: null
        }
      },
      {
        object: "archive_account",
        id: "019bc0e2-1280-7092-b899-5ab87f4740e9",
        name: "Élodie Marchand",
        phone_number: "+31612340005",
        chats: 3,
        messages: 13,
        files: 3,
        first_message_at: "2026-01-11T05:00:00.000Z",
        last_message_at: "2026-01-15T06:00:00.000Z",
        saving: {
          state: "check",
          reason: "connection_unknown",
          stopped_chats: 0,
          last_sync_at: "2026-01-15T09:00:00.000Z"
        }
      }
    ],
    has_more: true
  }
} as const

export const listChatMembers = {
  request: {
    ...place
  },
  answer: {
    object: "list",
    data: [
      {
        object: "chat_member",
        id: "5000000002",
        name: "Bram de Vries",
        username: "bram_dv",
        phone: null,
        role: "member",
        joined_at: null,
        last_seen_in_chat_at: null
      }
    ],
    has_more: false,
    unreadable: 0
  }
} as const

export const listChats = {
  request: {
    ...account,
    limit: 2
  },
  answer: {
    object: "list",
    data: [
      chat,
      {
        object: "chat",
        id: "-1002000000007",
        account_id: "019bc0e2-1280-7092-b899-5ab87f4740e9",
        type: "channel",
        title: "Port notices",
        username: "port_notices",
        members_count: 0,
        selected: true,
        effect: "archive",
        complete: false,
        complete_back_to: null,
        protected: false,
        migrated_to: null,
        messages: 2,
        files: 0,
        first_message_at: "2026-01-14T03:00:00.000Z",
        last_message_at: "2026-01-15T04:00:00.000Z",
        left_at: null
      }
    ],
    has_more: true,
    unreadable: 0
  }
} as const

export const listMessageEdits = {
  request: {
    ...place,
    message_id: "4"
  },
  answer: {
    object: "list",
    data: [
      {
        object: "message_edit",
        revision: 0,
        text: "They want 30 days instead of 14. D'accord?",
        caption: null,
        seen_at: "2026-01-15T09:00:00.000Z",
        edited_at: null
      },
      {
        object: "message_edit",
        revision: 1,
        text: "They want 30 days instead of 14, and a discount of 2 %. D'accord?",
        caption: null,
        seen_at: "2026-01-15T09:00:00.000Z",
        edited_at: "2026-01-14T07:00:00.000Z"
      }
    ],
    has_more: false,
    unreadable: 0
  }
} as const

export const listMessages = {
  request: {
    ...place,
    limit: 2
  },
  answer: {
    object: "list",
    data: [
      deleted,
      answered
    ],
    has_more: true,
    next_id: "5",
    unreadable: 0
  }
} as const

export const searchMessages = {
  request: {
    query: "discount d'accord"
  },
  answer: {
    object: "search_result",
    data: [
      {
        ...edited,
        matches: [
          { field: "text", revision: 1, start: 39, length: 8 },
          { field: "text", revision: 1, start: 56, length: 8 }
        ],
        also_in: []
      }
    ],
    has_more: false,
    cursor: null,
    complete: true,
    searched: 13,
    unreadable: 0
  }
} as const

export const startBackup = {
  request: { account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea" },
  answer: {
    object: "account_action",
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea",
    action: "backup_queued"
  }
} as const
