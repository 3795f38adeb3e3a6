/** A security key in software: passkeys that are kept for an admin, and what they sign. */
import { Effect } from "effect"
import * as crypto from "node:crypto"
import type * as Pages from "../http/pages.ts"
import * as World from "../world.ts"

const base64url = (bytes: Uint8Array | string) => Buffer.from(bytes).toString("base64url")
const sha256 = (bytes: Uint8Array | string) => crypto.createHash("sha256").update(bytes).digest()

export interface Passkey {
  readonly id: string
  readonly key: crypto.KeyObject
}

/** The key as WebAuthn writes it (COSE, P-256). */
const coseOf = (key: crypto.KeyObject): Buffer => {
  const { x = "", y = "" } = key.export({ format: "jwk" })
  return Buffer.concat([
    Buffer.from("a5010203262001215820", "hex"),
    Buffer.from(x, "base64url"),
    Buffer.from("225820", "hex"),
    Buffer.from(y, "base64url")
  ])
}

/** Gives the admin a passkey of the host. */
export const givePasskey = Effect.fnUntraced(function*(
  organization: string,
  adminId: string,
  { host = "localhost", id = base64url(crypto.randomBytes(16)) }: { readonly host?: string; readonly id?: string } = {}
) {
  const { privateKey, publicKey } = crypto.generateKeyPairSync("ec", { namedCurve: "P-256" })
  yield* World.query(
    organization,
    (sql) =>
      sql`insert into passkey (organization_id, id, admin_id, credential_id, rp_id, public_key, counter, transports, name,
        backed_up, created_at)
      values (${organization}, ${crypto.randomUUID()}, ${adminId}, ${id}, ${host}, ${base64url(coseOf(publicKey))}, 0,
        ${[]}::text[], 'Key', false, ${new Date(0)})`
  )
  const passkey: Passkey = { id, key: privateKey }
  return passkey
})

interface Signing {
  readonly origin?: string
  readonly host?: string
  readonly counter?: number
  /** Whether the device has verified its user. */
  readonly verified?: boolean
}

/** The members of a form by which the passkey answers the question of a page. */
export const answer = (
  { id, key }: Passkey,
  { text }: Pages.Page,
  { counter = 0, host = "localhost", origin = "http://localhost", verified = true }: Signing = {}
) => {
  const options = /data-passkey="get" data-options="([^"]*)"/.exec(text)?.[1]?.replaceAll("&quot;", "\"") ?? "{}"
  const ticket = /name="passkey_ticket" value="([^"]*)"/.exec(text)?.[1] ?? ""
  const { challenge } = JSON.parse(options) as { challenge: string }
  const client = Buffer.from(JSON.stringify({ type: "webauthn.get", challenge, origin, crossOrigin: false }))
  const counted = Buffer.alloc(4)
  counted.writeUInt32BE(counter)
  const data = Buffer.concat([sha256(host), Buffer.from([verified ? 0x05 : 0x01]), counted])
  const signature = crypto.sign("sha256", Buffer.concat([data, sha256(client)]), key)
  return {
    passkey_ticket: ticket,
    passkey: JSON.stringify({
      id,
      rawId: id,
      type: "public-key",
      clientExtensionResults: {},
      response: {
        clientDataJSON: base64url(client),
        authenticatorData: base64url(data),
        signature: base64url(signature)
      }
    })
  }
}
