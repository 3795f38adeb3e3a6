import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type * as Operation from "../../src/kernel/Operation.ts"
import { operations } from "../added/index.ts"
import { ask, makeStage } from "../support/http/requests.ts"
import * as Populated from "../support/populated.ts"
import { awaiting } from "../support/postgres/answers.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

const all: ReadonlyArray<Operation.Any> = operations

/** The operations that are one transaction; the others ask the messenger between two of them. */
const writes = all.filter(({ kind }) => kind === "write")

/** One for what is read and locked, and one for the changes with the journal's entry and the COMMIT. */
const usual = 2

/** The writes that wait for more, and for what. */
const more: Readonly<Record<string, readonly [answers: number, why: string]>> = {
  pause_protection: [3, "how many reviews it ends is in the mail"],
  set_account_department: [4, "whether the caller reaches the department, and the account after the move"],
  approve_session: [5, "the session, what the account's status follows from, and the account after it"],
  create_support_request: [3, "its number"],
  create_api_key: [7, "the password, as in transfer_ownership, the key that it is made with, whether its id is free"],
  revoke_api_key: [4, "whether it is revoked, the keys as they are shown, how many were made with it"],
  revoke_ai_connection: [3, "whether it is revoked, the connections as they are shown"],
  rename_department: [3, "whether the name is free"],
  delete_department: [3, "whether it is in use"],
  enable_admin: [3, "the admin after it"],
  set_admin_role: [6, "the password, the admin after it"],
  disable_admin: [4, "how many sessions it ends, the admin after it"],
  remove_admin: [3, "how much it ends"],
  resend_admin_invitation: [4, "how many were sent, the admin after it"],
  set_admin_access: [8, "the password, whether the caller reaches it, how much changes, the admin after it"],
  invite_admin: [10, "besides, whether the address is free, and how many were sent"],
  create_archive_rule: [3, "whether the caller reaches its accounts, and whether there is one already"],
  update_archive_rule: [3, "the rule's accounts, whose archives are locked before it"],
  delete_archive_rule: [3, "the rule's accounts, as in update_archive_rule"],
  start_backup: [3, "the organization, and whether one is asked for already"],
  preview_archive_cleanup: [4, "whether the caller reaches the accounts, whether a hold binds them, and the counts"],
  confirm_archive_cleanup: [3, "whether a hold binds it"],
  cancel_archive_cleanup: [3, "how much it has deleted"],
  create_archive_export: [
    4,
    "which accounts the caller reaches, the organization, how many exports there are, and the counts"
  ],
  delete_account_with_archive: [
    6,
    "whether a password is held, whether sessions are left, whether a hold binds it, and the deletion's id"
  ],
  delete_whole_archive: [4, "whether a hold binds it, and the deletion's id"],
  transfer_ownership: [5, "the password, before the transaction: the hash, the attempt counted and taken back"]
}

describe("5 answers of the database", () => {
  layer(World.world(postgres))((it) => {
    it.effect("a write waits for two answers after the entrance, and those of this list for more", () =>
      Effect.gen(function*() {
        const found: Array<readonly [string, number]> = []
        const { organization, ready } = yield* makeStage()
        const { admins: { owner }, id } = organization
        for (const { operation, request } of ready(owner).filter(({ operation }) => operation.kind === "write")) {
          const { answer, messages } = yield* awaiting(ask(yield* request, owner.key))
          const [last] = (yield* World.journal(id)).slice(-1)
          expect([operation.id, answer.status, last?.action]).toEqual([operation.id, 200, operation.journal?.action])
          expect(messages.at(-1)?.at(-1)).toBe("COMMIT")
          found.push([operation.id, messages.length])
        }
        expect(found).toEqual(writes.map(({ id }) => [id, more[id]?.[0] ?? usual]))
        expect(Object.keys(more).filter((id) => !writes.some((operation) => operation.id === id))).toEqual([])
        expect(Object.values(more).filter(([answers]) => answers <= usual)).toEqual([])
      }))

    it.effect("a read waits for one answer after the entrance, and those of this list for none or for more", () =>
      Effect.gen(function*() {
        const { admins, ids } = yield* Populated.make()
        yield* TestClock.adjust("61 seconds")
        // The credentials' last uses are written before they are shown, and the event is found before those before it.
        const paths: ReadonlyArray<readonly [path: string, answers: number]> = [
          ["/v1/organization", 0],
          [`/v1/accounts/${ids.account[0]}`, 1],
          ["/v1/status", 1],
          ["/v1/ai-connections", 2],
          ["/v1/journal", 1],
          [`/v1/journal?before_id=${ids.event[0]}`, 2],
          ["/v1/journal?action=nothing.done", 1],
          ["/v1/journal/tail", 1],
          ["/v1/journal/tail?after_sequence=1000", 1]
        ]
        for (const [path, answers] of paths) {
          const { answer, messages } = yield* awaiting(World.get(path, admins.owner.key))
          expect([path, answer.status, messages.length]).toEqual([path, 200, answers])
        }
      }))

    it.effect("an Idempotency-Key has it wait for three more: the claim, its COMMIT, and the answer that is kept", () =>
      Effect.gen(function*() {
        const { admins } = yield* World.makeOrganization()
        const make = (name: string, headers: Record<string, string>) =>
          awaiting(World.send("POST", "/v1/departments", { key: admins.owner.key, body: { name }, headers }))
        const plain = yield* make("Legal", {})
        const keyed = yield* make("Sales", { "idempotency-key": "one" })
        expect([plain.answer.status, keyed.answer.status]).toEqual([200, 200])
        expect([plain.messages.length, keyed.messages.length]).toEqual([usual, usual + 3])
      }))
  })
})
