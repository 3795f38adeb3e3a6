/** A request and its answer in the demo organization. */
export const sample = {
  request: {
    limit: 2
  },
  answer: {
    object: "list",
    data: [
      {
        object: "journal_event",
        id: "019bc0e2-1280-7691-9060-dc278a782e64",
        sequence: 1,
        at: "2026-01-15T09:00:00.000Z",
        action: "organization.created",
        outcome: "done",
        actor: {
          type: "operator",
          admin_id: null,
          name: null
        },
        credential: null,
        via: "cli",
        account_id: null,
        target: {
          type: "organization",
          id: "demo"
        },
        details: {},
        ip: null,
        request_id: null,
        closes: null,
        prev_hash: "25a7212a16af76b3d9af8d43e0638f7d22780c540c8cc1d0caa7287265f90d77",
        hash: "3824acf3b8efc2eef9666150e0fece9929bdac2aa76089ab2a5a6460e37f19f1"
      }
    ],
    has_more: false,
    last_sequence: 1,
    head_hash: "3824acf3b8efc2eef9666150e0fece9929bdac2aa76089ab2a5a6460e37f19f1"
  }
} as const
