/** Passkeys as the platform keeps them: it checks what a browser would have sent. */
import { verifyRegistrationResponse } from "@simplewebauthn/server"
import { type Effect, Redacted } from "effect"
import * as crypto from "node:crypto"
import type { LiveSession } from "../../../src/ports/messenger/MessengerSession.ts"
import * as DataCentre from "./DataCentre.ts"
import type { Word } from "./Words.ts"

/** The site that passkeys are for. */
const site = "messenger.test"

export const handlers = ({ ask, live }: {
  readonly ask: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
  readonly live: (key: DataCentre.Key) => Promise<LiveSession>
}) => ({
  "account.getPasskeys": async (key: DataCentre.Key) => {
    const { passkey_ids } = await ask((await live(key)).security({ twoFaPasswords: [], passkeyIds: [] }))
    return {
      _: "account.passkeys",
      passkeys: (passkey_ids ?? []).map((id) => ({ _: "passkey", id, name: "", date: 0 }))
    }
  },
  "account.initPasskeyRegistration": async (key: DataCentre.Key) => {
    const challenge = crypto.randomBytes(32).toString("base64url")
    key.of["passkeyChallenge"] = challenge
    await live(key)
    return {
      _: "account.passkeyRegistrationOptions",
      options: { _: "dataJSON", data: JSON.stringify({ publicKey: { challenge, rp: { id: site, name: site } } }) }
    }
  },
  "account.registerPasskey": async (key: DataCentre.Key, { credential: { id, rawId, response } }: Word) => {
    const challenge = key.of["passkeyChallenge"] ?? ""
    delete key.of["passkeyChallenge"]
    const { verified } = await verifyRegistrationResponse({
      response: {
        id,
        rawId,
        type: "public-key",
        clientExtensionResults: {},
        response: {
          clientDataJSON: Buffer.from(response.clientData.data).toString("base64url"),
          attestationObject: Buffer.from(response.attestationData).toString("base64url")
        }
      },
      expectedChallenge: challenge,
      expectedOrigin: `https://${site}`,
      expectedRPID: site
    }).catch(() => ({ verified: false }))
    if (!verified) throw new DataCentre.Refusal(400, "CREDENTIAL_INVALID")
    const added = await ask((await live(key)).addPasskey({ id, key: Redacted.make("kept by the service") }))
    return { _: "passkey", id: added.id, name: "", date: 0 }
  },
  "account.deletePasskey": async (key: DataCentre.Key, { id }: Word) => {
    await ask((await live(key)).removePasskey(id))
    return true
  }
})
