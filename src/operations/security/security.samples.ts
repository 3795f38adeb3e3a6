/** A request and its answer in the demo organization, for each operation of the area. */
import { acted, organization, people } from "../demo.samples.ts"

export const addPasskey = {
  request: { account_id: people.amara },
  answer: acted(people.amara, "passkey_added")
} as const

export const confirmLoginEmail = {
  request: { account_id: people.amara, code: "123456" },
  answer: acted(people.amara, "login_email_confirmed")
} as const

export const confirmRecoveryEmail = {
  request: { account_id: people.amara, code: "123456" },
  answer: acted(people.amara, "recovery_email_confirmed")
} as const

export const createPairedSession = {
  request: { account_id: people.bram },
  answer: acted(people.bram, "paired_session_created")
} as const

export const offboardAccount = {
  request: { account_id: people.bram },
  answer: acted(people.bram, "offboarded", "available")
} as const

export const releaseTakeoverLock = {
  request: { account_id: people.dagny },
  answer: acted(people.dagny, "takeover_lock_released")
} as const

export const removePairedSession = {
  request: { account_id: people.bram },
  answer: acted(people.bram, "paired_session_removed")
} as const

export const removePasskey = {
  request: { account_id: people.amara },
  answer: acted(people.amara, "passkey_removed")
} as const

export const removeRecoveryEmail = {
  request: { account_id: people.amara },
  answer: acted(people.amara, "recovery_email_removed")
} as const

export const removeTwoFaPassword = {
  request: { account_id: people.amara },
  answer: acted(people.amara, "two_fa_removed")
} as const

export const setLoginEmail = {
  request: { account_id: people.amara, email: "amara.new@example.com" },
  answer: {
    object: "email_change",
    account_id: people.amara,
    kind: "login",
    email_pattern: "a*****w@example.com",
    code_length: 6,
    state: "code_sent",
    attempts_left: 5,
    expires_at: "2026-01-15T09:56:00.000Z"
  }
} as const

export const setRecoveryEmail = {
  request: { account_id: people.amara, email: "amara.new@example.com" },
  answer: {
    object: "email_change",
    account_id: people.amara,
    kind: "recovery",
    email_pattern: "a*****w@example.com",
    code_length: 6,
    state: "code_sent",
    attempts_left: 5,
    expires_at: "2026-01-15T09:53:00.000Z"
  }
} as const

export const setSecurityLock = {
  request: { account_id: people.amara, enabled: true },
  answer: acted(people.amara, "security_lock_enabled")
} as const

export const setTakeoverLockdown = {
  request: { enabled: false },
  answer: {
    ...organization,
    tamper_lockdown_enabled: false
  }
} as const

export const setTwoFaPassword = {
  request: { account_id: people.amara },
  answer: acted(people.amara, "two_fa_set")
} as const
