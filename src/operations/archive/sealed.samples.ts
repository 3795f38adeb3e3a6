/** Requests of sealed data and their answers. Bytes are shortened: nonces and keys are by chance. */

const account_id = "019bc0e2-1280-7092-b899-5ab87f4740e9"
const key_id = "0190a5c4-0000-4000-8000-0000000000a1"
const chat_id = "5000000002"

const epoch = { account_id, epoch_id: "7", key_id, sealed_key: "W0Qx8l1Vb9o2..." } as const

export const getArchiveKeys = {
  request: {},
  answer: {
    object: "archive_keys",
    organization_id: "demo",
    current_key_id: key_id,
    keys: [{
      key_id,
      suite: 1,
      public_key: "9vXy2kQ0n1aB...",
      wrapped_private_key: { nonce: "8yQ2m0c1Zk5vYt1P", sealed: "Jm3bq9x0Qd...", proof: "p0Zq4nVt..." },
      kdf: {
        name: "argon2id",
        memory_kib: 131_072,
        passes: 3,
        lanes: 4,
        salt: "5f0c7d1e9a3b4c6d8e2f1a0b9c8d7e6f"
      },
      made_at: "2026-01-01T08:00:00.000Z",
      password_set_at: "2026-01-01T08:00:00.000Z"
    }]
  }
} as const

export const listSealedPages = {
  request: { account_id, messages: { chat_id, direction: "older", enough: 51, limit: 64 } },
  answer: {
    object: "sealed_pages",
    messages: [{ chat_id, number: "41", day: "2026-01-15", last_id: "6", ids: "Bg==", sealed: "AQAAAAAAAAAABw..." }],
    edits: [],
    chats: [],
    members: null,
    known_chats: 0,
    states: [{
      account_id,
      chat_id,
      message_id: "6",
      edit_dates: [],
      deleted_at: "2026-01-15T09:00:00.000Z",
      deleted_reason: "deleted",
      newest: null
    }],
    files: [],
    frames: [],
    epochs: [epoch],
    stated: 1,
    has_more: false
  }
} as const

export const listSealedBlocks = {
  request: { account_ids: [account_id], blocks: { below: "2026-01-31T00:00:00.000Z", limit: 16 } },
  answer: {
    object: "sealed_blocks",
    stamp: "1 44",
    loose_stamp: "45",
    blocks: [{
      account_id,
      block_id: "44",
      first_at: "2026-01-13T05:00:00.000Z",
      last_at: "2026-01-15T06:00:00.000Z",
      epoch_id: "7",
      fold: 1,
      pages: "39,40,41",
      sealed: "c2VhbGVkIHdvcmRz..."
    }],
    pages: [],
    states: [],
    files: [],
    frames: [],
    epochs: [epoch],
    stated: 0,
    has_more: false
  }
} as const

const file_id = "019bc0e2-1280-7a54-9a35-2b7c1d0f6e11"

export const listSealedFiles = {
  request: { files: [file_id] },
  answer: {
    object: "sealed_files",
    files: [{
      file: file_id,
      account_id,
      chat_id: "-1001000000042",
      message_id: "4",
      day: "2026-01-15",
      state: "saved",
      reason: null,
      at: "2026-01-15T09:00:00.000Z",
      content: {
        blob_id: "5f2c1d7e-8a4b-4c6d-9e0f-1a2b3c4d5e6f",
        epoch_id: "7",
        key: "q83vEjRWeJCrze8S...",
        bytes: 40,
        sha256: "YbLvjY2YgUMQfA684ZyEv0zf7pP6bncg..."
      }
    }],
    pages: [],
    epochs: [epoch],
    has_more: false
  }
} as const

export const downloadSealedFile = {
  request: { file_id },
  answer: { object: "content", media_type: "application/octet-stream", file_name: `${file_id}.sealed`, size: 56 }
} as const
