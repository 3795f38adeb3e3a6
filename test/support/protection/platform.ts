/** One person's account on a messenger, as the sessions that are signed in to it see it. */
import {
  type AccountSecurity,
  type Authorization,
  AuthorizationId,
  MessengerUserId,
  type Profile,
  SessionRef
} from "../../../src/domain/messenger/Messenger.ts"
import type { ServiceSessionDevice } from "../../../src/domain/protection/Facts.ts"
import { day } from "../stored.ts"

export const ownDevice: ServiceSessionDevice = {
  device_model: "Server",
  platform: "Linux",
  app_name: "Organization Security Console"
}

export interface Device {
  readonly id: string
  readonly createdAt: number
  readonly device: ServiceSessionDevice
  readonly waiting: boolean
}

/** What came of a sign-out. */
export type SignedOut = "done" | "unknown_authorization" | "locked"

export class Platform {
  readonly devices = new Map<string, Device>()
  /** Each session sees the others under ids of its own. */
  readonly ownIds: boolean
  twoFa: string | null = null
  held: string | null = null
  recovery: string | null = null
  loginEmail: string | null = "a*****b@example.org"
  resetAt: number | null = null
  phone = "4915112345678"
  passkeys: Array<string> = []
  codes = 0
  reachable = true
  floodSeconds = 0
  #made = 0

  constructor(ownIds: boolean) {
    this.ownIds = ownIds
  }

  /** Signs a device in; no two do in the same millisecond. */
  signIn(
    at: number,
    device: ServiceSessionDevice = { device_model: "Phone", platform: "OS", app_name: "App" },
    waiting = false
  ) {
    const id = `d${++this.#made}`
    this.devices.set(id, { id, createdAt: at + this.#made, device, waiting })
    return id
  }

  mark(): string {
    return `mark-${++this.#made}`
  }

  end(id: string): void {
    this.devices.delete(id)
  }

  /** The id under which a session sees a device. */
  shown(id: string, by: string): string {
    return id === by ? "0" : this.ownIds ? `${by}/${id}` : id
  }

  /** The device of an id that a session has seen. */
  real(id: string, by: string): string {
    return id === "0" ? by : id.slice(id.indexOf("/") + 1)
  }

  list(by: string): ReadonlyArray<Authorization> {
    return [...this.devices.values()].map(({ createdAt, device, id, waiting }) => ({
      id: AuthorizationId.make(this.shown(id, by)),
      current: id === by,
      ...device,
      app_version: "1",
      ip: null,
      country: null,
      last_active_at: null,
      created_at: new Date(createdAt),
      password_pending: waiting,
      unconfirmed: false
    }))
  }

  security(): AccountSecurity {
    const managed = this.twoFa !== null && this.twoFa === this.held
    return {
      login_email_pattern: this.loginEmail,
      recovery_email_pattern: managed ? this.recovery : null,
      recovery_pending_pattern: null,
      has_recovery: this.recovery !== null,
      two_fa_present: this.twoFa !== null,
      two_fa_mark: this.twoFa,
      two_fa_held: managed ? 0 : null,
      two_fa_managed: managed,
      reset_at: this.resetAt === null ? null : new Date(this.resetAt),
      passkey_present: this.passkeys.length > 0,
      passkey_ids: [...this.passkeys],
      passkey_managed: false,
      passkey_eligible_at: null
    }
  }

  profile(): Profile {
    return {
      user_id: MessengerUserId.make("6000000001"),
      first_name: "Ada",
      last_name: null,
      username: null,
      about: null,
      phone: this.phone,
      photo_id: null,
      premium: false
    }
  }

  /** A session signs another one out, once it is a day old. */
  signOut(by: string, id: string, at: number): SignedOut {
    const asking = this.devices.get(by)
    if (asking === undefined || at < asking.createdAt + day) return "locked"
    return this.devices.delete(id) ? "done" : "unknown_authorization"
  }
}

export const sessionRef = (id: string) => SessionRef.make(`ref-${id}`)
