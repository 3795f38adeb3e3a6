/** A request and its answer in the demo organization, for each operation of the area. */
import { account, invited, organization, superadmin } from "../demo.samples.ts"

const departments = ["019bc0e2-1280-7691-9060-dc0536cd9fd0", "019bc0e2-1280-7691-9060-dc06a2f0c1b4"] as const

/** The invited admin after a change of role and access. */
const archivist = {
  ...invited,
  role: "archive",
  access: { scope_type: "granted", account_ids: [], department_ids: departments, archive: true }
} as const

const legal = {
  object: "department",
  id: "019bc0ec-2500-7344-9a3e-5b0d6a31c7f2",
  name: "Legal",
  accounts: 0,
  created_at: "2026-01-15T09:11:00.000Z"
} as const

export const createDepartment = {
  request: {
    name: "Legal"
  },
  answer: legal
} as const

export const deleteDepartment = {
  request: {
    department_id: "019bc0ec-2500-7344-9a3e-5b0d6a31c7f2"
  },
  answer: {
    object: "department",
    id: "019bc0ec-2500-7344-9a3e-5b0d6a31c7f2",
    deleted: true
  }
} as const

export const disableAdmin = {
  request: {
    admin_id: "019bc0f0-4d00-7a11-8c42-6f3a90d1e7b5"
  },
  answer: {
    ...archivist,
    status: "disabled",
    disabled_at: "2026-01-15T09:19:00.000Z"
  }
} as const

export const enableAdmin = {
  request: {
    admin_id: "019bc0f0-4d00-7a11-8c42-6f3a90d1e7b5"
  },
  answer: archivist
} as const

export const getAdmin = {
  request: {
    admin_id: "019bc0e2-1280-7691-9060-dc08000010a4"
  },
  answer: superadmin
} as const

export const getMailPreferences = {
  request: {},
  answer: {
    object: "mail_preferences",
    email: "olivia@demo.example",
    choices: {
      security: true,
      storage: true,
      news: false,
      offers: false
    }
  }
} as const

export const inviteAdmin = {
  request: {
    email: "nora@demo.example",
    role: "admin",
    access: {
      department_ids: [
        "019bc0e2-1280-7691-9060-dc0536cd9fd0"
      ]
    },
    name: "Nora New"
  },
  answer: {
    ...invited,
    invitation_expires_at: "2026-01-22T09:15:00.000Z"
  }
} as const

export const listAdmins = {
  request: {
    role: "superadmin"
  },
  answer: {
    object: "list",
    data: [
      superadmin
    ],
    has_more: false
  }
} as const

export const listDepartments = {
  request: {
    limit: 2
  },
  answer: {
    object: "list",
    data: [
      {
        object: "department",
        id: "019bc0e2-1280-7691-9060-dc0536cd9fd0",
        name: "Board",
        accounts: 2,
        created_at: "2026-01-15T09:00:00.000Z"
      },
      {
        object: "department",
        id: "019bc0e2-1280-7691-9060-dc06a2f0c1b4",
        name: "Finance",
        accounts: 3,
        created_at: "2026-01-15T09:00:00.000Z"
      }
    ],
    has_more: true
  }
} as const

export const removeAdmin = {
  request: {
    admin_id: "019bc0f0-4d00-7a11-8c42-6f3a90d1e7b5"
  },
  answer: {
    object: "admin",
    id: "019bc0f0-4d00-7a11-8c42-6f3a90d1e7b5",
    deleted: true,
    credentials_revoked: 0
  }
} as const

export const renameDepartment = {
  request: {
    department_id: "019bc0ec-2500-7344-9a3e-5b0d6a31c7f2",
    name: "Legal and compliance"
  },
  answer: { ...legal, name: "Legal and compliance" }
} as const

export const resendAdminInvitation = {
  request: {
    admin_id: "019bc0f0-4d00-7a11-8c42-6f3a90d1e7b5"
  },
  answer: invited
} as const

export const setAccountDepartment = {
  request: {
    account_id: "019bc0e2-1280-7691-9060-dc1c794fba00",
    department_id: "019bc0e2-1280-7691-9060-dc0536cd9fd0"
  },
  answer: {
    ...account,
    name: "amara_at_demo",
    role_label: "Board secretary",
    department_id: "019bc0e2-1280-7691-9060-dc0536cd9fd0"
  }
} as const

export const setAdminAccess = {
  request: {
    admin_id: "019bc0f0-4d00-7a11-8c42-6f3a90d1e7b5",
    account_ids: [],
    department_ids: departments,
    current_password: "what the owner signs in with"
  },
  answer: archivist
} as const

export const setAdminRole = {
  request: {
    admin_id: "019bc0f0-4d00-7a11-8c42-6f3a90d1e7b5",
    role: "archive",
    current_password: "what the owner signs in with"
  },
  answer: {
    ...invited,
    role: "archive",
    access: {
      scope_type: "granted",
      account_ids: [],
      department_ids: [
        "019bc0e2-1280-7691-9060-dc0536cd9fd0"
      ],
      archive: true
    }
  }
} as const

export const setMailPreferences = {
  request: {
    security: true,
    storage: false,
    news: false,
    offers: false
  },
  answer: {
    object: "mail_preferences",
    email: "olivia@demo.example",
    choices: {
      security: true,
      storage: false,
      news: false,
      offers: false
    }
  }
} as const

export const transferOwnership = {
  request: {
    admin_id: "019bc0e2-1280-7691-9060-dc08000010a4",
    current_password: "what the owner signs in with"
  },
  answer: organization
} as const
