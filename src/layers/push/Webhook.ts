/** Checkpoints sent to a web address, some at a time. */
import { Effect, Redacted } from "effect"
import * as crypto from "node:crypto"
import { NotTaken, type PushTarget } from "../../ports/journal/CheckpointQueue.ts"
import { lines, notTaken } from "./Target.ts"

/** The credentials of an address: a token alone is a bearer's. */
const authorization = ({ password, username }: URL): Record<string, string> => {
  if (username === "" && password === "") return {}
  const [name, secret] = [decodeURIComponent(username), decodeURIComponent(password)]
  return {
    authorization: password === ""
      ? `Bearer ${name}`
      : `Basic ${Buffer.from(`${name}:${secret}`).toString("base64")}`
  }
}

/** The address, which may hold secrets in its userinfo, path and query; its name identifies it by a digest. */
export const target = (address: Redacted.Redacted<URL>): PushTarget => {
  const url = new URL(Redacted.value(address))
  const headers = { ...authorization(url), "content-type": "application/json" }
  url.username = ""
  url.password = ""
  const digest = crypto.createHash("sha256").update(url.href).digest("hex").slice(0, 8)
  return {
    name: `${url.origin} (${digest})`,
    send: (checkpoints) =>
      Effect.gen(function*() {
        const body = `{"checkpoints":[${(yield* lines(checkpoints)).join(",")}]}`
        const { status } = yield* Effect.tryPromise({
          try: async (signal) => {
            // An address that sends elsewhere is not where the operator wanted them, nor the token.
            const response = await fetch(url, { method: "POST", headers, body, signal, redirect: "manual" })
            await response.body?.cancel()
            return response
          },
          catch: notTaken
        })
        if (status < 200 || status > 299) return yield* new NotTaken({ reason: `status ${status}` })
      })
  }
}
