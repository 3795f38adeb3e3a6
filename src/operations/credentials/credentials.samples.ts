/** A request and its answer in the demo organization, for each operation of the area. */
import { connection } from "../demo.samples.ts"

const key = {
  object: "api_key",
  id: "019bc0e9-6580-71ed-9fe1-b9a5e50e8030",
  label: "Nightly export",
  scopes: ["org:read"],
  owner_email: "olivia@demo.example",
  mine: true,
  created_at: "2026-01-15T09:08:00.000Z",
  last_used_at: null,
  expires_at: "2026-04-15T09:00:00.000Z",
  revoked_at: null
} as const

export const createApiKey = {
  request: {
    label: "Nightly export",
    scopes: [
      "org:read"
    ]
  },
  answer: {
    ...key,
    secret: "osc_live_..."
  }
} as const

export const listAiConnections = {
  request: {},
  answer: {
    object: "ai_connections",
    connections: [
      connection,
      {
        object: "ai_connection",
        id: "019bc0e2-1280-7691-9060-dc236f1d449f",
        kind: "oauth",
        label: "Research assistant",
        client: {
          name: "Assistant A",
          host: "assistant-a.example",
          known: "assistant_a"
        },
        mode: "cloud",
        scopes: [
          "archive:read",
          "org:read"
        ],
        scope_type: "accounts",
        all_accounts: false,
        account_ids: [
          "019bc0e2-1280-7691-9060-dc11e65f72ea"
        ],
        department_ids: [],
        owner_email: "olivia@demo.example",
        mine: true,
        has_stored_password: true,
        created_at: "2026-01-03T09:00:00.000Z",
        last_used_at: "2026-01-15T08:00:00.000Z",
        expires_at: null,
        revoked_at: null
      },
      {
        object: "ai_connection",
        id: "019bc0e2-1280-7691-9060-dc2503404b44",
        kind: "token",
        label: "Bridge on Archie's laptop",
        client: null,
        mode: "local",
        scopes: [
          "archive:read"
        ],
        scope_type: "departments",
        all_accounts: false,
        account_ids: [],
        department_ids: [
          "019bc0e2-1280-7691-9060-dc0536cd9fd0"
        ],
        owner_email: "archie@demo.example",
        mine: false,
        has_stored_password: false,
        created_at: "2025-12-06T09:00:00.000Z",
        last_used_at: "2026-01-14T09:00:00.000Z",
        expires_at: "2026-03-06T09:00:00.000Z",
        revoked_at: null
      },
      {
        object: "ai_connection",
        id: "019bc0e2-1280-7691-9060-dc267b6abd2c",
        kind: "token",
        label: "Spring cleaning bot",
        client: null,
        mode: "cloud",
        scopes: [
          "archive:read",
          "org:read"
        ],
        scope_type: "accounts",
        all_accounts: false,
        account_ids: [
          "019bc0e2-1280-7691-9060-dc1287fcba90",
          "019bc0e2-1280-7691-9060-dc1a12c53dff"
        ],
        department_ids: [],
        owner_email: "sam@demo.example",
        mine: false,
        has_stored_password: false,
        created_at: "2025-07-09T09:00:00.000Z",
        last_used_at: null,
        expires_at: "2025-10-07T09:00:00.000Z",
        revoked_at: null
      }
    ],
    api_keys: [
      {
        object: "api_key",
        id: "019bc0e2-1280-7691-9060-dc2a6dc07b80",
        label: "Demo billing",
        scopes: [
          "org:read",
          "accounts:write"
        ],
        owner_email: "bill@demo.example",
        mine: false,
        created_at: "2026-01-15T09:00:00.000Z",
        last_used_at: null,
        expires_at: "2026-04-15T09:00:00.000Z",
        revoked_at: null
      },
      {
        object: "api_key",
        id: "019bc0e2-1280-7691-9060-dc29e56b2065",
        label: "Demo admin",
        scopes: [
          "org:read",
          "accounts:write",
          "security:write"
        ],
        owner_email: "ada@demo.example",
        mine: false,
        created_at: "2026-01-15T09:00:00.000Z",
        last_used_at: null,
        expires_at: "2026-04-15T09:00:00.000Z",
        revoked_at: null
      },
      {
        object: "api_key",
        id: "019bc0e2-1280-7691-9060-dc284761291e",
        label: "Demo owner",
        scopes: [
          "archive:read",
          "org:read",
          "accounts:write",
          "security:write",
          "admins:write",
          "archive:delete"
        ],
        owner_email: "olivia@demo.example",
        mine: true,
        created_at: "2026-01-15T09:00:00.000Z",
        last_used_at: "2026-01-15T09:00:00.000Z",
        expires_at: "2026-04-15T09:00:00.000Z",
        revoked_at: null
      },
      {
        object: "api_key",
        id: "019bc0e2-1280-7691-9060-dc2c15a92417",
        label: "Leaked in a ticket",
        scopes: [
          "org:read",
          "accounts:write"
        ],
        owner_email: "ada@demo.example",
        mine: false,
        created_at: "2025-11-16T09:00:00.000Z",
        last_used_at: "2025-12-25T09:00:00.000Z",
        expires_at: null,
        revoked_at: "2025-12-25T09:00:00.000Z"
      },
      {
        object: "api_key",
        id: "019bc0e2-1280-7691-9060-dc2bb616c629",
        label: "Old export script",
        scopes: [
          "org:read"
        ],
        owner_email: "sam@demo.example",
        mine: false,
        created_at: "2025-06-29T09:00:00.000Z",
        last_used_at: "2025-10-12T09:00:00.000Z",
        expires_at: "2025-10-17T09:00:00.000Z",
        revoked_at: null
      }
    ]
  }
} as const

export const revokeAiConnection = {
  request: {
    connection_id: "019bc0e2-1280-7691-9060-dc247d8fe63a"
  },
  answer: connection
} as const

export const revokeApiKey = {
  request: {
    api_key_id: "019bc0e9-6580-71ed-9fe1-b9a5e50e8030"
  },
  answer: {
    ...key,
    revoked_at: "2026-01-15T09:09:00.000Z"
  }
} as const
