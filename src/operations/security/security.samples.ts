/** A request and its answer in the demo organization, for each operation of the area. */
import { organization } from "../Demo.samples.ts"

export const addPasskey = {
  request: {
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea"
  },
  answer: {
    object: "account_action",
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea",
    action: "passkey_added"
  }
} as const

export const confirmLoginEmail = {
  request: {
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea",
    code: "123456"
  },
  answer: {
    object: "account_action",
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea",
    action: "login_email_confirmed"
  }
} as const

export const confirmRecoveryEmail = {
  request: {
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea",
    code: "123456"
  },
  answer: {
    object: "account_action",
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea",
    action: "recovery_email_confirmed"
  }
} as const

export const createPairedSession = {
  request: {
    account_id: "019bc0e2-1280-717f-bf3b-1f94c07e9929"
  },
  answer: {
    object: "account_action",
    account_id: "019bc0e2-1280-717f-bf3b-1f94c07e9929",
    action: "paired_session_created"
  }
} as const

export const offboardAccount = {
  request: {
    account_id: "019bc0e2-1280-717f-bf3b-1f94c07e9929"
  },
  answer: {
    object: "account_action",
    account_id: "019bc0e2-1280-717f-bf3b-1f94c07e9929",
    action: "offboarded",
    status: "available"
  }
} as const

export const releaseTakeoverLock = {
  request: {
    account_id: "019bc0e2-1280-717f-bf3b-1f9685ebb3d5"
  },
  answer: {
    object: "account_action",
    account_id: "019bc0e2-1280-717f-bf3b-1f9685ebb3d5",
    action: "takeover_lock_released"
  }
} as const

export const removePairedSession = {
  request: {
    account_id: "019bc0e2-1280-717f-bf3b-1f94c07e9929"
  },
  answer: {
    object: "account_action",
    account_id: "019bc0e2-1280-717f-bf3b-1f94c07e9929",
    action: "paired_session_removed"
  }
} as const

export const removePasskey = {
  request: {
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea"
  },
  answer: {
    object: "account_action",
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea",
    action: "passkey_removed"
  }
} as const

export const removeRecoveryEmail = {
  request: {
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea"
  },
  answer: {
    object: "account_action",
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea",
    action: "recovery_email_removed"
  }
} as const

export const removeTwoFaPassword = {
  request: {
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea"
  },
  answer: {
    object: "account_action",
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea",
    action: "two_fa_removed"
  }
} as const

export const setLoginEmail = {
  request: {
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea",
    email: "amara.new@example.com"
  },
  answer: {
    object: "email_change",
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea",
    kind: "login",
    email_pattern: "a*****w@example.com",
    code_length: 6,
    state: "code_sent",
    attempts_left: 5,
    expires_at: "2026-01-15T09:56:00.000Z"
  }
} as const

export const setRecoveryEmail = {
  request: {
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea",
    email: "amara.new@example.com"
  },
  answer: {
    object: "email_change",
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea",
    kind: "recovery",
    email_pattern: "a*****w@example.com",
    code_length: 6,
    state: "code_sent",
    attempts_left: 5,
    expires_at: "2026-01-15T09:53:00.000Z"
  }
} as const

export const setSecurityLock = {
  request: {
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea",
    enabled: true
  },
  answer: {
    object: "account_action",
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea",
    action: "security_lock_enabled"
  }
} as const

export const setTakeoverLockdown = {
  request: {
    enabled: false
  },
  answer: {
    ...organization,
    tamper_lockdown_enabled: false
  }
} as const

export const setTwoFaPassword = {
  request: {
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea"
  },
  answer: {
    object: "account_action",
    account_id: "019bc0e2-1280-7691-9060-dc11e65f72ea",
    action: "two_fa_set"
  }
} as const
