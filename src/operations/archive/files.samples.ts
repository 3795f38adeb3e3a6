/** The samples of the files of archived messages. */
const file = {
  object: "file",
  id: "019bc0e2-1280-7a54-9a35-2b7c1d0f6e11",
  account_id: "019bc0e2-1280-7092-b899-5ab87f4740e9",
  chat_id: "-1001000000042",
  message_id: "4",
  name: "Lieferschein 88-2041.txt",
  mime_type: "text/plain",
  bytes: 40,
  sha256: "61b2ef8d8d988143107c0ebcdc84bf4cfee7df93fa6e7720fe05fe2a86d1fd22",
  state: "saved",
  reason: null,
  archived_at: "2026-01-15T09:00:00.000Z"
} as const

export const listFiles = {
  request: { account_id: "019bc0e2-1280-7092-b899-5ab87f4740e9", limit: 1 },
  answer: { object: "list", data: [file], has_more: true, next_id: file.id, unreadable: 0 }
} as const

export const getFile = { request: { file_id: file.id }, answer: file } as const

export const downloadFile = {
  request: { file_id: file.id },
  answer: { object: "content", media_type: "text/plain", file_name: "Lieferschein 88-2041.txt", size: 40 }
} as const
