import { Effect, Layer, Redacted } from "effect"
import { WebCrypto } from "effect/crypto"
import { HttpEffect } from "effect/http"
import { TestClock } from "effect/testing"
import { readFileSync } from "node:fs"
import { App, Site } from "../src/http/index.ts"
import { Console, SeedLoader } from "../src/layers/index.ts"
import { operations } from "../src/operations/index.ts"

/** Prints what every operation answers in the demo organization, at a fixed time and with repeatable randomness. */
const start = Date.parse("2026-01-15T09:00:00.000Z")

const inputs = {
  find_accounts: { query: "amara", limit: 2 },
  set_mail_preferences: { security: true, storage: true, news: false, offers: false },
  set_notification_recipients: { recipients: "owner_superadmins" },
  list_protected_accounts: { limit: 2 },
  update_messenger_profile: { about: "Back in the office on Monday" },
  set_account_role_label: { role_label: "Board secretary" },
  set_messenger_username: { username: "amara_at_demo" },
  list_journal_events: { limit: 2 },
  tail_journal_events: { limit: 2 },
  create_api_key: { label: "Nightly export", scopes: ["org:read"] }
}

let state = 1
/** A xorshift generator: the same bytes at every run. */
const getRandomValues = (array) => {
  for (let index = 0; index < array.length; index++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    array[index] = state
  }
  return array
}

const ask = (handler, key) => async (method, path, body) => {
  const response = await handler(
    new Request(`http://demo.test${path}`, {
      method,
      headers: {
        host: "demo.test",
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
  )
  const answer = await response.json()
  if (response.status !== 200) throw new Error(`${method} ${path} answers ${JSON.stringify(answer)}`)
  return answer
}

const members = (input, names) => Object.fromEntries(Object.entries(input).filter(([name]) => name in names))

const program = Effect.gen(function*() {
  yield* TestClock.setTime(start)
  const seed = JSON.parse(readFileSync(new URL("../seeds/demo.json", import.meta.url), "utf8"))
  const { keys } = yield* SeedLoader.load(yield* SeedLoader.decode(seed))
  const handler = HttpEffect.toWebHandlerWith(yield* Effect.context())(yield* App.make)
  const request = ask(handler, Redacted.value(keys[0].key))
  const examples = {}
  for (const { body, id, method, params, path, query } of operations) {
    yield* TestClock.adjust("1 minute")
    const known = {
      account_id: async () => {
        const status = id === "resume_protection" ? "paused" : "protected"
        return (await request("GET", `/v1/accounts?status=${status}&limit=1`)).data[0].id
      },
      event_id: async () => (await request("GET", "/v1/journal?limit=1")).data[0].id,
      api_key_id: async () =>
        (await request("GET", "/v1/ai-connections")).api_keys.find(({ label }) => label === "Nightly export").id,
      connection_id: async () => (await request("GET", "/v1/ai-connections")).connections[0].id
    }
    let address = path
    for (const name of Object.keys(params)) {
      if (known[name] === undefined) throw new Error(`No example for ${name} of ${id}`)
      const value = yield* Effect.promise(known[name])
      address = address.replace(`:${name}`, value)
    }
    const input = inputs[id] ?? {}
    const search = new URLSearchParams(members(input, query)).toString()
    const sent = Object.keys(body).length === 0 ? undefined : members(input, body)
    const answer = yield* Effect.promise(() => request(method, search === "" ? address : `${address}?${search}`, sent))
    // What is documented is not taken for a key that leaked.
    if ("secret" in answer) answer.secret = "osc_live_..."
    examples[id] = { ...(sent === undefined ? {} : { body: sent }), answer }
  }
  return examples
})

const sites = Layer.succeed(Site.Sites, Site.make([{ baseUrl: "http://demo.test", organizationId: null }]))

const examples = await Effect.runPromise(
  program.pipe(
    Effect.provide(Layer.merge(sites, Console.layerMemory)),
    Effect.provideService(WebCrypto.WebCrypto, { ...globalThis.crypto, getRandomValues, subtle: crypto.subtle }),
    Effect.provide(TestClock.layer()),
    Effect.scoped
  )
)
console.log(JSON.stringify(examples, null, 2))
