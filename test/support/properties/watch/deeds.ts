/** What is done to one account: outside, by admins, and by the messenger. */
import { Clock, Effect, Redacted } from "effect"
import { SimulatedPlatform } from "../../../../src/layers/messenger/simulated/SimulatedPlatform.ts"
import { dying } from "../../crashing.ts"
import * as Logins from "../../logins/logins.ts"
import * as World from "../../world.ts"
import type { Device, Ledger } from "./ledger.ts"
import type { Asked, Deed, During } from "./plan.ts"

const disguise = { device_model: "Server", platform: "Linux", app_name: "Organization Security Console" }

const picked = <A>(among: ReadonlyArray<A>, pick: number): A | undefined => among[pick % Math.max(among.length, 1)]

/** Devices that nobody outside has ended. */
const left = ({ devices }: Ledger): ReadonlyArray<Device> => [...devices.values()].filter(({ ended }) => !ended)

const signedIn = Effect.fnUntraced(function*(ledger: Ledger, disguised: boolean) {
  const platform = yield* SimulatedPlatform
  const now = yield* Clock.currentTimeMillis
  const device = disguised ? disguise : { device_model: "Pixel 9", app_name: "Messenger" }
  const id = yield* platform.logIn(ledger.userId, { ...device, created_at: new Date(now) })
  ledger.devices.set(id, { id, signedInAt: now, before: false, ended: false, seen: false })
})

const end = Effect.fnUntraced(function*({ userId }: Ledger, device: Device | undefined) {
  if (device === undefined) return
  const platform = yield* SimulatedPlatform
  const gone = yield* Effect.exit(platform.logOut(userId, device.id))
  // The service may have been first.
  if (gone._tag === "Success") device.ended = true
})

const changes = {
  "2fa": () => ({ two_fa_password: Redacted.make("the thief's") }),
  recovery: (now: number) => ({ recovery_email: now % 2 === 0 ? "thief@example.org" : null }),
  passkey: (now: number) => ({ passkey_ids: [`thief-${now}`] })
}

/** What an admin asks for, by the key of the owner. */
const asked = Effect.fnUntraced(
  function*(organization: World.Organization, ledger: Ledger, what: Asked, pick: number, dies: number | null) {
    const { key } = organization.admins.owner
    const path = `/v1/accounts/${ledger.account}`
    // An approval is often of what was just to be signed out.
    const last = ledger.devices.get([...ledger.sent].at(-1) ?? "")
    const device = what === "approve" && pick % 2 === 0 && last !== undefined ? last : picked(left(ledger), pick)
    const request = () => {
      switch (what) {
        case "approve":
        case "sign-out":
          return World.post(`${path}/sessions/${device?.id ?? "none"}/${what}`, key)
        case "sign-out-others":
          return World.send("POST", `${path}/sessions/${what}`, {
            key,
            body: { keep: picked(["approved_and_baseline", "approved", "none"], pick) }
          })
        case "pause":
        case "resume":
          return World.post(`${path}/${what}`, key)
        case "release":
          return World.post(`${path}/takeover-lock/release`, key)
        case "security lock":
          return World.send("PUT", `${path}/security-lock`, { key, body: { enabled: pick % 2 === 0 } })
        case "two-fa":
          return World.send("PUT", `${path}/two-fa`, { key, body: {} })
      }
    }
    ledger.asked.add(what)
    if (dies !== null) return yield* dying(dies, request())
    const { status } = yield* request()
    if (what === "two-fa" && status === 200) ledger.theirs = false
  }
)

/** Does it; what is refused is no matter. */
export const done = Effect.fnUntraced(function*(organization: World.Organization, ledger: Ledger, deed: Deed) {
  const platform = yield* SimulatedPlatform
  const now = yield* Clock.currentTimeMillis
  const { userId } = ledger
  switch (deed.kind) {
    case "nothing":
      return
    case "sign in":
      return yield* signedIn(ledger, deed.disguised)
    case "end":
      return yield* end(ledger, picked(left(ledger), deed.pick))
    case "attempt":
      return yield* platform.beginLogIn(userId, { device_model: "Pixel 9" })
    case "code":
      return yield* platform.sendCode(userId)
    case "change":
      if (deed.what === "2fa") ledger.theirs = true
      if (deed.what === "reset") return yield* platform.askForReset(userId, true)
      if (deed.what === "phone") {
        return yield* platform.changeProfile(userId, { phone: `${ledger.phone.slice(0, 3)}${String(now).slice(-8)}` })
      }
      return yield* platform.changeSecurity(userId, changes[deed.what](now))
    case "trouble": {
      const answer = deed.answer === "Busy" ? { _tag: deed.answer, seconds: 45 } as const : { _tag: deed.answer }
      return yield* platform.script({ answer, operation: deed.call, userId, times: deed.times })
    }
    case "reachable":
      return yield* platform.setUnreachable(userId, !deed.on)
    case "revoke": {
      const own = yield* platform.authorizationId(ledger.sessionRef)
      return yield* platform.logOut(userId, own)
    }
    case "pair":
      return yield* World.send("PUT", `/v1/accounts/${ledger.account}/paired-session`, {
        key: organization.admins.owner.key,
        body: {}
      })
    case "relogin": {
      const admin = Logins.actor(organization.admins.superadmin.key)
      const { body } = yield* admin.relogin(ledger.account)
      const sent = (yield* platform.codes).findLast(({ phone }) => phone === ledger.phone)
      return yield* admin.code(String(body.id), sent === undefined ? "none" : Redacted.value(sent.code))
    }
    case "offboard":
      ledger.offboarded = true
      return yield* World.post(`/v1/accounts/${ledger.account}/offboard`, organization.admins.owner.key)
    case "ask":
      return yield* asked(organization, ledger, deed.what, deed.pick, deed.dies)
  }
})

/** What happens while the sign-out of a session is on its way. */
export const meanwhile = Effect.fnUntraced(
  function*(organization: World.Organization, ledger: Ledger, during: During, id: string) {
    if (during === null) return
    ledger.disturbedAt = yield* Clock.currentTimeMillis
    const path = `/v1/accounts/${ledger.account}`
    const { key } = organization.admins.owner
    const other = left(ledger).findLast((device) => device.id !== id && !ledger.sent.has(device.id))?.id ?? id
    switch (during) {
      case "approve it":
        return yield* World.post(`${path}/sessions/${id}/approve`, key)
      case "approve another":
        return yield* World.post(`${path}/sessions/${other}/approve`, key)
      case "pause":
        return yield* World.post(`${path}/pause`, key)
      case "end":
        return yield* end(ledger, ledger.devices.get(id))
    }
  }
)
