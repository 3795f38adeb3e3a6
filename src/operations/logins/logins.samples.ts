/** A request and its answer in the demo organization, for each operation of the area. */
import { connect, relogin } from "../demo.samples.ts"

export const cancelLogin = {
  request: {
    login_id: "019bc0e2-9d40-7691-9060-dc1c794fbb02"
  },
  answer: {
    ...relogin,
    state: "cancelled"
  }
} as const

export const getLogin = {
  request: {
    login_id: "019bc0e2-9d40-7691-9060-dc1c794fbb01"
  },
  answer: connect
} as const

export const resendLoginCode = {
  request: {
    login_id: "019bc0e2-9d40-7691-9060-dc1c794fbb02"
  },
  answer: relogin
} as const

export const startAccountConnect = {
  request: {
    phone_number: "+31612340022",
    role_label: "Field engineer"
  },
  answer: connect
} as const

export const startAccountRelogin = {
  request: {
    account_id: "019bc0e2-1280-7691-9060-dc1c794fba00"
  },
  answer: {
    ...relogin,
    code_delivery: "app",
    resend_at: "2026-01-15T09:32:00.000Z",
    expires_at: "2026-01-15T09:41:00.000Z"
  }
} as const

export const submitLoginCode = {
  request: {
    login_id: "019bc0e2-9d40-7691-9060-dc1c794fbb01",
    code: "12345"
  },
  answer: {
    ...connect,
    state: "password_needed",
    resend_at: null,
    password_hint: "what you ride, and its colour",
    expires_at: "2026-01-15T09:43:00.000Z"
  }
} as const

export const submitLoginPassword = {
  request: {
    login_id: "019bc0e2-9d40-7691-9060-dc1c794fbb01",
    password: "blue bicycle"
  },
  answer: {
    ...connect,
    account_id: "019bc0e2-1280-7691-9060-dc1c794fbb03",
    state: "completed",
    resend_at: null,
    password_hint: "what you ride, and its colour",
    expires_at: "2026-01-15T09:44:00.000Z"
  }
} as const
