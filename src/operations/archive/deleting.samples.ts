/** Samples of what deletes from the archive, and of what keeps it from that. */

const heldCase = {
  object: "archive_hold",
  id: "019bc0e9-3c00-7a51-8c1d-4e2b7f90a6d3",
  name: "Case 2026-014",
  account_ids: ["019bc0e2-1280-7092-b899-5ab87f4740e9"],
  since: "2025-06-01",
  until: null,
  placed_by: "019bc0e2-1280-7dc1-abf7-82b82945c67d",
  placed_at: "2026-01-15T09:58:00.000Z",
  released_at: null
} as const

export const listArchiveHolds = {
  request: { limit: 2 },
  answer: { object: "list", data: [heldCase], has_more: false }
} as const

export const placeArchiveHold = {
  request: { name: heldCase.name, account_ids: heldCase.account_ids, since: heldCase.since },
  answer: heldCase
} as const

export const releaseArchiveHold = {
  request: { hold_id: heldCase.id },
  answer: { ...heldCase, released_at: "2026-01-15T10:00:00.000Z" }
} as const

const previewed = {
  object: "archive_cleanup",
  id: "019bc0e9-9dc0-7c34-9a1f-6d5e8b20c471",
  state: "previewed",
  criteria: {
    account_ids: ["019bc0e2-1280-7092-b899-5ab87f4740e9"],
    chat_ids: null,
    before: "2026-01-15T00:00:00.000Z",
    what: "messages"
  },
  stop_saving: false,
  messages: 10,
  files: 3,
  bytes: 2024,
  chats: 3,
  deleted_messages: 0,
  deleted_bytes: 0,
  confirm_phrase: "delete 10 messages from 1 account",
  not_before: null,
  expires_at: "2026-01-15T10:08:00.000Z",
  created_by: "019bc0e2-1280-7dc1-abf7-82b82945c67d",
  confirmed_by: null,
  created_at: "2026-01-15T09:53:00.000Z",
  started_at: null,
  finished_at: null,
  error: null
} as const

const confirmed = {
  ...previewed,
  state: "queued",
  confirm_phrase: null,
  expires_at: null,
  confirmed_by: previewed.created_by
} as const

export const previewArchiveCleanup = {
  request: {
    criteria: { account_ids: previewed.criteria.account_ids, before: "2026-01-15T12:00:00Z" },
    stop_saving: false
  },
  answer: previewed
} as const

export const listArchiveCleanups = {
  request: { limit: 2, state: "previewed" },
  answer: { object: "list", data: [previewed], has_more: false }
} as const

export const getArchiveCleanup = { request: { cleanup_id: previewed.id }, answer: previewed } as const

export const confirmArchiveCleanup = {
  request: { cleanup_id: previewed.id, confirm_phrase: previewed.confirm_phrase },
  answer: confirmed
} as const

export const cancelArchiveCleanup = {
  request: { cleanup_id: previewed.id },
  answer: { ...confirmed, state: "cancelled", finished_at: "2026-01-15T09:57:00.000Z" }
} as const

export const redactMessages = {
  request: {
    account_id: "019bc0e2-1280-7092-b899-5ab87f4740e9",
    chat_id: "5000000002",
    message_ids: ["6"],
    reason: "A discount that was never offered"
  },
  answer: {
    object: "archive_redaction",
    account_id: "019bc0e2-1280-7092-b899-5ab87f4740e9",
    chat_id: "5000000002",
    message_ids: ["6"]
  }
} as const

export const verifyArchive = {
  request: {},
  answer: {
    object: "archive_verification",
    pages: 0,
    missing: 0,
    changed: 0,
    added: 0,
    unproven: 0,
    not_covered: 16,
    covered_until: null,
    checkpoint: null,
    complete: true,
    cursor: null
  }
} as const

const keepsEverything = {
  object: "archive_retention",
  days: null,
  tier_days: { protect: null, archive: null, governance: null },
  begins_at: null,
  updated_at: null,
  updated_by: null
} as const

export const getArchiveRetention = { request: {}, answer: keepsEverything } as const

export const setArchiveRetention = {
  request: { days: 3650, tier_days: { governance: null } },
  answer: {
    ...keepsEverything,
    days: 3650,
    tier_days: { protect: 3650, archive: 3650, governance: null },
    begins_at: "2026-01-22T10:04:00.000Z",
    updated_at: "2026-01-15T10:04:00.000Z",
    updated_by: "019bc0e2-1280-7dc1-abf7-82b82945c67d"
  }
} as const
