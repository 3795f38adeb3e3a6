/** Samples of the exports of the archive. */

const listed = {
  object: "archive_export",
  id: "019bc0e9-9dc0-7e58-b7a4-0c9d3f61a285",
  state: "ready",
  criteria: {
    account_ids: ["019bc0e2-1280-7092-b899-5ab87f4740e9"],
    chat_ids: null,
    since: "2026-01-01",
    until: null
  },
  format: "html",
  media: true,
  messages: 13,
  files: 3,
  part_count: 1,
  created_by: "019bc0e2-1280-7dc1-abf7-82b82945c67d",
  created_at: "2026-01-15T10:01:00.000Z",
  expires_at: "2026-01-22T10:01:00.000Z"
} as const

const made = {
  ...listed,
  parts: [{
    number: 1,
    account_id: "019bc0e2-1280-7092-b899-5ab87f4740e9",
    first_day: "2026-01-11",
    last_day: "2026-01-15",
    messages: 13,
    files: 3,
    bytes_estimate: 11068,
    bytes: null,
    sha256: null,
    downloaded_at: null,
    downloaded_by: null,
    downloaded_by_name: null,
    unreadable: null,
    latest_download: null
  }]
} as const

export const createArchiveExport = {
  request: {
    criteria: { account_ids: listed.criteria.account_ids, since: listed.criteria.since },
    format: "html",
    media: true
  },
  answer: made
} as const

export const listArchiveExports = {
  request: { limit: 2 },
  answer: { object: "list", data: [listed], has_more: false }
} as const

export const downloadArchiveExportPart = {
  request: { export_id: listed.id, number: 1 },
  answer: {
    object: "content",
    media_type: "application/zip",
    file_name: "archive-export-019bc0e9-1-of-1.zip",
    size: null
  }
} as const

export const getArchiveExport = { request: { export_id: listed.id }, answer: made } as const
