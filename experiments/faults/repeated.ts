/** The answer is lost after the service has given it, and the client sends the same request again. */
import * as http from "node:http"
import * as Clients from "./clients.ts"
import { type Fault, unmet } from "./fault.ts"
import { type Attempt, judge, type Kind } from "./ledger.ts"
import { onPostgres } from "./stage.ts"

/** An address that passes requests on, and cuts the connection where the answer should come; it keeps the answers. */
const cutting = async (target: () => string) => {
  const collected: Array<{ readonly status: number; readonly request: string | null }> = []
  const server = http.createServer((request, response) => {
    const { hostname, host, port } = new URL(target())
    const passed = http.request(
      { hostname, port, method: request.method, path: request.url, headers: { ...request.headers, host } },
      (answer) => {
        answer.resume().on("end", () => {
          collected.push({ status: answer.statusCode ?? 0, request: String(answer.headers["request-id"]) })
          response.destroy()
        })
      }
    )
    passed.on("error", () => response.destroy())
    request.pipe(passed)
  })
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  return {
    address: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    collected,
    close: () => server.close()
  }
}

interface Repeatable {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly kind?: Kind
  /** What the repeated request is answered. */
  readonly again: number
}

/** The operations that change something, each so that it has an effect in every round. */
const operations = (round: number, plain: string, live: string): ReadonlyArray<Repeatable> => [
  {
    name: "set_account_role_label",
    kind: "label",
    method: "PUT",
    path: Clients.labelOf(plain),
    body: { role_label: `again ${round}` },
    again: 200
  },
  {
    name: "update_messenger_profile",
    kind: "about",
    method: "PATCH",
    path: Clients.profileOf(live),
    body: { about: `again ${round}` },
    again: 200
  },
  {
    name: "set_messenger_username",
    method: "PUT",
    path: `${Clients.profileOf(live)}/username`,
    body: { username: `again_${round}` },
    again: 200
  },
  { name: "pause_protection", method: "POST", path: `/v1/accounts/${plain}/pause`, again: 409 },
  { name: "resume_protection", method: "POST", path: `/v1/accounts/${plain}/resume`, again: 409 },
  {
    name: "set_notification_recipients",
    method: "PUT",
    path: "/v1/settings/notifications",
    body: { recipients: round % 2 === 0 ? "owner_superadmins" : "owner" },
    again: 200
  },
  {
    name: "set_mail_preferences",
    method: "PUT",
    path: "/v1/me/mail-preferences",
    body: { security: false, storage: false, news: true, offers: round % 2 === 0 },
    again: 200
  }
]

export const repeated: Fault = async ({ rounds = 25 }) => {
  const stage = await onPostgres(1)
  try {
    const service = await stage.serve()
    const proxy = await cutting(() => service.address)
    const [plain = ""] = stage.plain
    const [live = ""] = stage.live
    const attempts: Array<Attempt> = []
    const firsts: Array<string | null> = []
    const repeats: Array<string | null> = []
    const wrong: Array<string> = []
    let keysTwice = 0
    for (let round = 0; round < rounds; round++) {
      for (const { again, body, kind, method, name, path } of operations(round, plain, live)) {
        const cut = await Clients.send(proxy.address, Clients.nextKey(stage), method, path, body)
        const second = await Clients.send(service.address, Clients.nextKey(stage), method, path, body)
        const collected = proxy.collected.at(-1)
        firsts.push(collected?.request ?? null)
        repeats.push(second.request)
        if (cut.status !== 0 || collected?.status !== 200 || second.status !== again) {
          wrong.push(`${name}: ${cut.status} ${collected?.status} ${second.status}`)
        }
        if (kind !== undefined) {
          attempts.push({
            kind,
            account: kind === "about" ? live : plain,
            text: `again ${round}`,
            outcome: "acknowledged",
            status: collected?.status ?? 0,
            request: collected?.request ?? null,
            milliseconds: 0
          })
        }
      }
      const key = { label: `again ${round}`, scopes: ["org:read"] }
      await Clients.send(proxy.address, Clients.nextKey(stage), "POST", "/v1/api-keys", key)
      const second = await Clients.send(service.address, Clients.nextKey(stage), "POST", "/v1/api-keys", key)
      const revoke = `/v1/api-keys/${second.body?.id}`
      await Clients.send(proxy.address, Clients.nextKey(stage), "DELETE", revoke)
      const gone = await Clients.send(service.address, Clients.nextKey(stage), "DELETE", revoke)
      firsts.push(proxy.collected.at(-1)?.request ?? null)
      repeats.push(gone.request)
      if (gone.status >= 500 || gone.status === 0) wrong.push(`revoke_api_key: ${gone.status}`)
    }
    proxy.close()
    await service.stop()
    const kept = await stage.settle()
    const events = kept.events.filter(({ outcome }) => outcome === "done")
    const ofKeys = events.filter(({ action }) => action === "api_key.created")
    for (let round = 0; round < rounds; round++) {
      if (ofKeys.filter(({ details }) => details["label"] === `again ${round}`).length === 2) keysTwice += 1
    }
    const requests = new Set(events.map(({ request_id }) => request_id))
    const verdict = judge(attempts, {
      ...kept,
      events: kept.events.map((event) => event.action === "api_key.created" ? { ...event, action: "" } : event),
      keys: new Map()
    })
    return {
      done:
        `The answer cut off after the service gave it, and the request repeated, ${rounds} rounds of eight operations`,
      verdict: {
        ...verdict,
        acknowledged: firsts.length,
        lost: verdict.lost + firsts.filter((request) => !requests.has(request)).length,
        duplicated: verdict.duplicated + repeats.filter((request) => requests.has(request)).length
      },
      seen:
        `the eight operations that are declared idempotent settled to one effect and one entry; create_api_key is not among them, takes no Idempotency-Key, and repeated made a second key in ${keysTwice} of ${rounds} rounds, each journaled, listed and revocable`,
      failed: unmet({
        [`the repeated requests answer as the operations say: ${wrong.slice(0, 3).join("; ")}`]: wrong.length === 0
      })
    }
  } finally {
    await stage.remove()
  }
}
