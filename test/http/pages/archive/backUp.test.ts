import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Mcp from "../../../mcp/support.ts"
import * as Pages from "../../../support/http/pages.ts"
import { postgres } from "../../../support/postgres/database.ts"
import { at, day, hour, now } from "../../../support/stored.ts"
import * as World from "../../../support/world.ts"

/** What an admin is offered on the page, and what the API and a tool answer, of an account with the facts. */
const answers = Effect.fnUntraced(function*(account: Record<string, unknown>, organization: Record<string, unknown>) {
  yield* TestClock.setTime(now.getTime())
  const { admins, id } = yield* World.makeOrganization(organization)
  const { key } = admins.owner
  const live = yield* World.makeLiveAccount(id, {}, { facts: account })
  const cookie = yield* Pages.signIn(id, admins.owner.id)
  const page = yield* Pages.visit("GET", `/console/accounts/${live.id}`, { cookie })
  const tool = (yield* Mcp.call("start_backup", { account_id: live.id }, { key })).body.result
  const { body, status } = yield* World.send("POST", `/v1/accounts/${live.id}/archive/backup`, { key })
  return {
    page: page.text.includes("Back up now"),
    tool: tool.isError !== true,
    api: status === 200 ? null : body.error.code
  }
})

describe("a backup that an admin asks for", () => {
  layer(World.world(postgres))((it) => {
    it.effect("is offered by the page exactly where the API and the tool accept it", () =>
      Effect.gen(function*() {
        const noted = { archive_first_record_at: at(-day) }
        const cases = [
          [null, {}, {}],
          [null, { archive_cleanup_running: true }, {}],
          [null, { archive_chats_selected: 2, archive_chats_stopped: 2 }, {}],
          [null, { archive_error: "unexpected" }, {}],
          ["not_active", { paused_at: at(-hour), monitoring_state: "stopped" }, {}],
          ["no_session", { stopped_at: at(-hour), stop_reason: "session_lost", monitoring_state: "stopped" }, {}],
          ["no_archive_plan", { licence_tier: "protect" }, {}],
          ["no_archive_plan", { stopped_at: at(-hour), stop_reason: "licence", monitoring_state: "stopped" }, {}],
          ["no_archive_key", {}, { archive_key_set: false }],
          ["storage_full", {}, { storage_limit_bytes: 0 }],
          ["archive_readonly", {}, { ...noted, archive_deletion_started_at: at(-hour) }],
          ["archive_readonly", {}, {
            ...noted,
            status: "suspended",
            suspended_at: at(-hour),
            suspend_reason: "operator"
          }]
        ] as const
        for (const [code, account, organization] of cases) {
          const accepted = code === null
          expect([account, organization, yield* answers(account, organization)])
            .toEqual([account, organization, { page: accepted, tool: accepted, api: code }])
        }
      }))
  })
})
