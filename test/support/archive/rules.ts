/** Rules of the archive, past the API. */
import { Effect } from "effect"
import * as crypto from "node:crypto"
import type { ChatType } from "../../../src/domain/archive/Chat.ts"
import * as World from "../world.ts"

/** A rule of the whole organization; its id. */
export const makeRule = (
  organizationId: string,
  chatType: ChatType | "any",
  { effect = "archive", id = crypto.randomUUID(), live = true, maxFileBytes = null, target = null }: {
    readonly effect?: string
    readonly id?: string
    readonly live?: boolean
    readonly maxFileBytes?: number | null
    readonly target?: string | null
  } = {}
) => {
  return Effect.as(
    World.addRows("archive_rule", organizationId, [{
      rule_id: id,
      level: target === null ? "organization" : "account",
      target,
      chat_type: chatType,
      chat_id: null,
      effect,
      media: "all",
      max_file_bytes: maxFileBytes,
      live,
      updated_at: new Date(0),
      updated_by: null
    }]),
    id
  )
}

/** The member of a request that has a rule concern one account. */
export const accountTarget = (id: string) => ({ target: { level: "account", id } })
