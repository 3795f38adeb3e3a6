import { describe, expect, it } from "@effect/vitest"
import * as Documents from "../../src/http/OpenApiDocument.ts"
import * as InputMembers from "../../src/kernel/InputMembers.ts"
import { operations } from "../../src/operations/index.ts"

describe("4.16 operations that are only named", () => {
  it("S4.16-01, S5.3-12: sessions, what secures an account, and connecting it have operations, under the scopes that are for them", () => {
    const scopes = new Map<string, string>(operations.map(({ id, scope }) => [id, scope]))
    const connecting = [
      "approve_session",
      "start_account_connect",
      "start_account_relogin",
      "submit_login_code",
      "submit_login_password",
      "resend_login_code",
      "cancel_login"
    ]
    const securing = [
      "sign_out_session",
      "sign_out_other_sessions",
      "set_two_fa_password",
      "remove_two_fa_password",
      "set_recovery_email",
      "confirm_recovery_email",
      "remove_recovery_email",
      "set_login_email",
      "confirm_login_email",
      "add_passkey",
      "remove_passkey",
      "set_takeover_lockdown",
      "release_takeover_lock",
      "set_security_lock",
      "create_paired_session",
      "remove_paired_session",
      "offboard_account"
    ]
    expect(connecting.map((id) => [id, scopes.get(id)])).toEqual(connecting.map((id) => [id, "accounts:write"]))
    expect(operations.filter(({ scope }) => scope === "security:write").map(({ id }) => id).toSorted()).toEqual(
      securing.toSorted()
    )
  })

  it("S4.16-03, S5.3-04, S5.3-09, S5.3-14: the archive is read, kept and deleted by operations, each under the scope that is for it", () => {
    const scoped: Readonly<Record<string, ReadonlyArray<string>>> = {
      "archive:read": [
        "list_accounts",
        "list_chats",
        "list_messages",
        "search_messages",
        "list_chat_members",
        "list_message_edits",
        "list_files",
        "download_file",
        "list_archive_rules",
        "list_archive_cleanups",
        "get_archive_cleanup"
      ],
      "accounts:write": [
        "approve_session",
        "set_account_department",
        "start_account_connect",
        "start_account_relogin",
        "create_archive_rule",
        "update_archive_rule",
        "delete_archive_rule",
        "start_backup",
        "create_support_request"
      ],
      "archive:delete": [
        "preview_archive_cleanup",
        "confirm_archive_cleanup",
        "delete_account_with_archive",
        "delete_whole_archive"
      ]
    }
    for (const [scope, ids] of Object.entries(scoped)) {
      expect(operations.filter((operation) => operation.scope === scope).map(({ id }) => id))
        .toEqual(expect.arrayContaining([...ids]))
    }
  })

  it("S1-02, S4.16-02, S4.16-04, S5.3-07, S5.3-13: what an admin has in the console has operations, each under the scope that is for it", () => {
    const scoped: Readonly<Record<string, ReadonlyArray<string>>> = {
      "org:read": [
        "list_sessions",
        "list_departments",
        "list_admins",
        "get_admin",
        "list_journal_events",
        "get_subscription",
        "get_billing_links",
        "get_status",
        "list_support_requests"
      ],
      "accounts:write": ["create_support_request"],
      "admins:write": [
        "create_api_key",
        "invite_admin",
        "set_admin_role",
        "set_admin_access",
        "disable_admin",
        "enable_admin",
        "remove_admin",
        "create_department",
        "rename_department",
        "delete_department",
        "transfer_ownership"
      ]
    }
    for (const [scope, ids] of Object.entries(scoped)) {
      expect(operations.filter((operation) => operation.scope === scope).map(({ id }) => id))
        .toEqual(expect.arrayContaining([...ids]))
    }
  })

  it("S1-23: an account is connected by its phone number, and by nothing else", () => {
    const taking = (name: string) =>
      operations.filter(({ body }) => name in body).map((
        { body, id }
      ) => [id, InputMembers.required(body).includes(name)])
    expect(taking("phone_number")).toEqual([["start_account_connect", true], ["start_account_relogin", false]])
  })

  it("S5.3-15, S4.16-05: the scopes that were granted against the password take no ticket; ownership takes the password in its call", () => {
    const granted = operations.filter(({ scope }) =>
      ["security:write", "admins:write", "archive:delete"].includes(scope)
    )
    const members = granted.flatMap(({ body, params, query }) => Object.keys({ ...params, ...query, ...body }))
    expect(members.filter((name) => /ticket|step_?up|reauth|otp/.test(name))).toEqual([])
    const { paths } = JSON.parse(JSON.stringify(Documents.make()))
    const named = Object.values<any>(paths).flatMap((methods) => Object.values<any>(methods))
      .flatMap(({ parameters = [] }) => parameters.flatMap((each: any) => each.in === "header" ? [each.name] : []))
    expect([...new Set(named)].toSorted()).toEqual(["Idempotency-Key", "Range"])
    expect(InputMembers.required(operations.find(({ id }) => id === "transfer_ownership")?.body ?? {}))
      .toContain("current_password")
  })
})
