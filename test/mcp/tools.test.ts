import { describe, expect, it } from "@effect/vitest"
import * as Failure from "../../src/domain/Failure.ts"
import * as Documents from "../../src/http/OpenApiDocument.ts"
import type * as Operation from "../../src/kernel/Operation.ts"
import * as Tools from "../../src/mcp/Tools.ts"
import { served as operations } from "../added/index.ts"
import * as Mcp from "./support.ts"

const all: ReadonlyArray<Operation.Any> = operations
const ids = all.map(({ id }) => id)
const tools = Mcp.tools.all().map(([, tool]) => tool)

const walk = (value: unknown, visit: (name: string, value: unknown) => void): void => {
  if (typeof value !== "object" || value === null) return
  for (const [name, member] of Object.entries(value)) {
    visit(name, member)
    walk(member, visit)
  }
}

describe("the tools", () => {
  it("S1-03: are the operations, each by its id, in the specification's order", () => {
    expect(tools.map(({ name }) => name)).toEqual(ids)
  })

  it("are at most 40 in a toolset, as many as clients take", () => {
    const counts = Map.groupBy(all, ({ toolset }) => toolset)
    expect([...counts].filter(([, { length }]) => length > 40).map(([toolset]) => toolset)).toEqual([])
  })

  it("S4.7-12, S4.16-03: have the archive's list_accounts as another tool", () => {
    expect(Mcp.tools.find("list_accounts")?.path).toBe("/v1/archive/accounts")
    expect(Mcp.tools.find("list_protected_accounts")?.id).toBe("list_protected_accounts")
  })

  it("S4-20: hint at whatever signs out, deletes, or takes access, a credential or protection away", () => {
    const taking = [
      "confirm_archive_cleanup",
      "confirm_login_email",
      "confirm_recovery_email",
      "delete_account_with_archive",
      "delete_department",
      "delete_whole_archive",
      "disable_admin",
      "offboard_account",
      "pause_protection",
      "redact_messages",
      "release_takeover_lock",
      "remove_admin",
      "remove_paired_session",
      "remove_passkey",
      "remove_recovery_email",
      "remove_two_fa_password",
      "revoke_ai_connection",
      "revoke_api_key",
      "set_account_department",
      "set_admin_access",
      "set_admin_role",
      "set_archive_retention",
      "set_security_lock",
      "set_takeover_lockdown",
      "set_two_fa_password",
      "sign_out_other_sessions",
      "sign_out_session",
      "transfer_ownership"
    ]
    const hinted = Tools.all().filter(([, { annotations }]) => annotations.destructiveHint)
    expect(hinted.map(([, { name }]) => name).toSorted()).toEqual(taking)
    // The specification marks none of its section 4 `x-destructive`; a hint says no more than that a person is asked.
    expect(all.find(({ id }) => id === "pause_protection")?.destructive).toBe(false)
  })

  it("hint at what only reads, may be repeated, and reaches the messenger", () => {
    for (const operation of all) {
      const { annotations, title } = tools.find(({ name }) => name === operation.id)!
      expect([operation.id, annotations]).toEqual([operation.id, {
        readOnlyHint: Mcp.changesNothing(operation),
        destructiveHint: operation.destructive || operation.confirm,
        idempotentHint: operation.idempotent,
        openWorldHint: operation.failures.some(({ identifier }) => identifier === "messenger_unavailable")
      }])
      expect(title).toMatch(/^[A-Z][\w ]+$/)
    }
  })

  it("hint that what destroys is to be confirmed, and that what is not idempotent must not be repeated", () => {
    const [operation] = all
    const hints = (change: object) => Tools.define({ ...operation!, ...change }).annotations
    expect(hints({ destructive: true, idempotent: false })).toMatchObject({
      destructiveHint: true,
      idempotentHint: false
    })
    expect(hints({ confirm: true })).toMatchObject({ destructiveHint: true, idempotentHint: true })
  })

  it("take the members of the operation and no others, ids by their format alone", () => {
    for (const operation of all) {
      const { inputSchema } = tools.find(({ name }) => name === operation.id)!
      expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false })
      const fields = Object.keys({ ...operation.params, ...operation.query, ...operation.body })
      expect(Object.keys(inputSchema.properties ?? {})).toEqual(fields)
      for (const name of Object.keys(operation.params)) {
        expect(inputSchema.properties?.[name]).toMatchObject(
          name === "number"
            ? { type: "integer" }
            // The messenger's own ids are no UUIDs.
            : ["session_id", "chat_id", "message_id"].includes(name)
            ? { type: "string" }
            : { type: "string", format: "uuid" }
        )
        expect(inputSchema.required).toContain(name)
      }
    }
  })

  it("describe everything that they take: what it means and, where the type does not say it, how it is written", () => {
    for (const { inputSchema, name } of tools) {
      for (const [member, schema] of Object.entries(inputSchema.properties ?? {})) {
        expect([name, member, schema]).toEqual([
          name,
          member,
          expect.objectContaining({ description: expect.stringMatching(/^[A-Z].{8,}\.$/) })
        ])
      }
    }
  })

  it("have self-contained schemas: nothing refers elsewhere", () => {
    const patterns = new Set<string>()
    walk(tools, (name, value) => {
      expect(name).not.toMatch(/^\$(?:ref|defs)$/)
      if (name === "pattern") patterns.add(String(value))
    })
    // Ids have a format; these have a form of their own, written so that any engine reads it.
    const forms = {
      action: "^[a-z_]+\\.(?:[a-z_]+|\\*)$",
      admin: "^ *[0-9A-Za-z.!#$%&'*+/=?^_`{|}~-]+@[0-9A-Za-z][0-9A-Za-z.-]* *$",
      address: "^ *[^\\s@\\x00-\\x1f\\x7f-\\x9f]+@[^\\s@\\x00-\\x1f\\x7f-\\x9f]+ *$",
      phone: "^\\+[1-9][0-9]{6,14}$",
      code: "^[0-9A-Za-z-]{3,12}$",
      emailCode: "^[0-9]{4,12}$",
      chat: "^(?:0|-?[1-9][0-9]{0,18})$",
      message: "^(?:0|[1-9][0-9]{0,18})$",
      cursor: "^[0-9A-Za-z_-]{1,400}$"
    }
    expect([...patterns].toSorted()).toEqual(Object.values(forms).toSorted())
    for (const { outputSchema } of tools) expect(outputSchema).toMatchObject({ type: "object" })
  })

  it("S1-15: say in a few words what they do, what a caller must know first, and where others have written the text", () => {
    for (const operation of all) {
      const { description = "" } = tools.find(({ name }) => name === operation.id)!
      expect(description.startsWith(operation.summary)).toBe(true)
      const [rest = ""] = description.slice(operation.summary.length).split("Returns third-party text.")
      expect([operation.id, (operation.description ?? "").startsWith(rest.trim())]).toEqual([operation.id, true])
      expect([operation.id, rest.trim() === "" || rest.trim().endsWith(".")]).toEqual([operation.id, true])
      expect([operation.id, description.includes("hird-party text")]).toEqual([operation.id, operation.thirdPartyText])
      expect([operation.id, description.length < 360]).toEqual([operation.id, true])
    }
  })

  it("name only operations that there are, in every text and every failure's message", () => {
    const verbs = [...new Set(ids.map((id) => id.split("_", 1)[0])), "start", "offboard", "delete", "invite", "file"]
    const named = new RegExp(`\\b(?:${verbs.join("|")})_[a-z]+(?:_[a-z]+)*\\b`, "g")
    const texts = [
      JSON.stringify(Documents.make(operations)),
      JSON.stringify(tools),
      ...Object.values<unknown>(Failure).flatMap((member) =>
        typeof member === "function" && "identifier" in member
          ? [Reflect.construct(member, [{ scope: "org:read", retry_after: 1 }]).message]
          : []
      )
    ]
    expect(texts.length).toBeGreaterThan(20)
    const notOperations = new Set([
      "cancel_at",
      "confirm_phrase",
      "confirm_phrase_invalid",
      "file_id",
      "file_list",
      "file_name",
      "file_not_saved",
      "file_too_large",
      "resend_at",
      "resend_too_early",
      "revoked_at",
      "search_result",
      "sign_out_queued"
    ])
    for (const text of texts) {
      const unknown = (text.match(named) ?? []).filter((id: string) => !ids.includes(id) && !notOperations.has(id))
      expect(unknown).toEqual([])
    }
  })
})
