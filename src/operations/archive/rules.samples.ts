/** The samples of the rules. */
const everyChat = {
  object: "archive_rule",
  id: "019bc0e2-1280-7b21-a3d4-5b1f0c9e7a10",
  target: { level: "organization", id: null },
  selector: { chat_type: "any", chat_id: null },
  effect: "archive",
  media: "all",
  max_file_bytes: null,
  live: true,
  updated_at: "2026-01-15T09:00:00.000Z",
  updated_by: null
} as const

export const listArchiveRules = {
  request: { limit: 2 },
  answer: {
    object: "list",
    data: [
      everyChat,
      {
        ...everyChat,
        id: "019bc0e2-1280-7b21-a3d4-5b1f0c9e7a11",
        selector: { chat_type: "channel", chat_id: null },
        effect: "review"
      }
    ],
    has_more: false
  }
} as const

const groupsWithoutFiles = {
  target: { level: "organization", id: null },
  selector: { chat_type: "group", chat_id: null },
  effect: "archive",
  media: "none",
  live: true
} as const

export const createArchiveRule = {
  request: groupsWithoutFiles,
  answer: {
    ...everyChat,
    id: "019bc0f0-4d00-7c05-9b1e-2f6a80d1e7c4",
    ...groupsWithoutFiles,
    updated_at: "2026-01-15T09:49:00.000Z",
    updated_by: "019bc0e2-1280-7dc1-abf7-82b82945c67d"
  }
} as const

export const updateArchiveRule = {
  request: { rule_id: everyChat.id, live: false },
  answer: {
    ...everyChat,
    live: false,
    updated_at: "2026-01-15T09:50:00.000Z",
    updated_by: createArchiveRule.answer.updated_by
  }
} as const

export const deleteArchiveRule = {
  request: { rule_id: everyChat.id },
  answer: { object: "archive_rule", id: everyChat.id, deleted: true }
} as const

export const previewArchiveRule = {
  request: { target: everyChat.target, selector: { chat_type: "group", chat_id: null }, effect: "skip" },
  answer: { object: "archive_rule_preview", chats: 0, archive: 0, skip: 0, review: 0, begins: 0, ends: 0 }
} as const
