/** A request of every operation of section 4 and the journal that an owner's credential gets a 200 for, in an order that makes each of them pass. */
import { Effect } from "effect"
import type { Operations } from "../../src/operations/index.ts"
import * as World from "./world.ts"

/** The operations that give and take credentials stand apart: what they need and leave is told by `test/pages`. */
export type OperationId = Exclude<
  Operations[number]["id"],
  "create_api_key" | "revoke_api_key" | "revoke_ai_connection"
>

/** What an operation's request is made of. */
export interface Request {
  readonly id: OperationId
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

/** The requests about one account and one event of the journal; the account is protected and has a live session. */
export const requests = (accountId: string, eventId: string): ReadonlyArray<Request> => {
  const account = `/v1/accounts/${accountId}`
  return [
    { id: "get_organization", method: "GET", path: "/v1/organization" },
    { id: "list_ai_connections", method: "GET", path: "/v1/ai-connections" },
    { id: "get_mail_preferences", method: "GET", path: "/v1/me/mail-preferences" },
    {
      id: "set_mail_preferences",
      method: "PUT",
      path: "/v1/me/mail-preferences",
      body: { security: false, storage: false, news: true, offers: true }
    },
    { id: "get_notification_recipients", method: "GET", path: "/v1/settings/notifications" },
    {
      id: "set_notification_recipients",
      method: "PUT",
      path: "/v1/settings/notifications",
      body: { recipients: "owner_superadmins" }
    },
    { id: "list_protected_accounts", method: "GET", path: "/v1/accounts" },
    { id: "get_account", method: "GET", path: account },
    { id: "get_account_messenger_profile", method: "GET", path: `${account}/messenger-profile` },
    {
      id: "update_messenger_profile",
      method: "PATCH",
      path: `${account}/messenger-profile`,
      body: { first_name: "Grace", about: "Compiles" }
    },
    { id: "pause_protection", method: "POST", path: `${account}/pause` },
    { id: "resume_protection", method: "POST", path: `${account}/resume` },
    { id: "set_account_role_label", method: "PUT", path: `${account}/role-label`, body: { role_label: "Pilot" } },
    {
      id: "set_messenger_username",
      method: "PUT",
      path: `${account}/messenger-profile/username`,
      body: { username: `u${accountId.replaceAll("-", "").slice(-20)}` }
    },
    { id: "list_journal_events", method: "GET", path: "/v1/journal" },
    { id: "get_journal_event", method: "GET", path: `/v1/journal/${eventId}` },
    { id: "tail_journal_events", method: "GET", path: "/v1/journal/tail" },
    { id: "find_accounts", method: "GET", path: "/v1/account-search?query=grace" }
  ]
}

/** What a request says in its query. */
export const queryOf = ({ path }: Request): Readonly<Record<string, string>> =>
  Object.fromEntries(new URL(path, World.baseUrl).searchParams)

/** The operations that change something, in the specification's order. */
export const changing: ReadonlyArray<OperationId> = [
  "set_mail_preferences",
  "set_notification_recipients",
  "update_messenger_profile",
  "pause_protection",
  "resume_protection",
  "set_account_role_label",
  "set_messenger_username"
]

/** Sends one of the requests. */
export const ask = (request: Request, key?: World.Asking["key"]) =>
  World.send(request.method, request.path, {
    ...(key === undefined ? {} : { key }),
    ...(request.body === undefined ? {} : { body: request.body })
  })

/** An organization with a live account, and one event of its journal. */
export const makeStage = Effect.fnUntraced(function*(facts: Record<string, unknown> = {}) {
  const organization = yield* World.makeOrganization(facts)
  const account = yield* World.makeLiveAccount(organization.id)
  yield* World.put(`/v1/accounts/${account.id}/role-label`, organization.admins.owner.key, { role_label: "First" })
  const events = yield* World.get("/v1/journal", organization.admins.owner.key)
  const eventId: string = events.body.data[0].id
  return { organization, account, eventId, requests: requests(account.id, eventId) }
})
