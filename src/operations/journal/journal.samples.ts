/** A request and its answer in the demo organization, for each operation of the area. */
import { event } from "../demo.samples.ts"

export const getJournalEvent = {
  request: {
    event_id: "019bc0e2-1280-7691-9060-dc278a782e64"
  },
  answer: event
} as const

export const listJournalEvents = {
  request: {
    action: "organization.created"
  },
  answer: {
    object: "list",
    data: [
      event
    ],
    has_more: false,
    last_sequence: 64
  }
} as const

export const tailJournalEvents = {
  request: {
    limit: 1
  },
  answer: {
    object: "list",
    data: [
      event
    ],
    has_more: true,
    last_sequence: 64,
    head_hash: "3824acf3b8efc2eef9666150e0fece9929bdac2aa76089ab2a5a6460e37f19f1"
  }
} as const
