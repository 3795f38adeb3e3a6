/** What is asked of every organization, whatever its size. */
import type { Client } from "pg"
import { AccountStatus } from "../../src/domain/accounts/ProtectionStatus.ts"
import { type Filling, idOf, type Member } from "../../test/support/postgres/fill.ts"

/** Who asks: a member by a key, or an application that the owner limited to three departments. */
export type Asker = Extract<Member, "owner" | "admin" | "billing"> | "limited"

export interface Case {
  readonly operation: string
  readonly asker: Asker
  readonly what: string
  readonly path: string
}

/** The same cases for each organization, in the same order. */
export const casesOf = async (superuser: Client, { accounts, events, id }: Filling): Promise<ReadonlyArray<Case>> => {
  const one = async (expression: string, from = ""): Promise<string> => {
    const { rows } = await superuser.query<{ one: string }>(`select ${expression} as one ${from}`)
    return rows[0]?.one ?? ""
  }
  const accountAt = (place: number) =>
    one("id", `from account where organization_id = '${id}' order by name_key, id offset ${place} limit 1`)
  const eventAt = (sequence: number) => one(idOf("event", id, sequence))
  const timeOf = (sequence: number) =>
    one(
      `to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
      `from journal_event where organization_id = '${id}' and sequence = ${sequence}`
    )
  const department = await one(idOf("department", id, 1))
  const account = await one(idOf("account", id, 1))
  const owner = await one(idOf("admin", id, "'owner'"))
  const nobody = await one(idOf("admin", id, "'nobody'"))
  const key = await one(idOf("key", id, "'owner'"))
  const middle = Math.floor(events / 2)
  const moment = await timeOf(middle)
  const list = (asker: Asker, what: string, query = ""): Case => ({
    operation: "list_protected_accounts",
    asker,
    what,
    path: `/v1/accounts?limit=50${query}`
  })
  const journal = (asker: Asker, what: string, query = ""): Case => ({
    operation: "list_journal_events",
    asker,
    what,
    path: `/v1/journal?limit=50${query}`
  })
  const found = (asker: Asker, what: string, query: string): Case => ({
    operation: "find_accounts",
    asker,
    what,
    path: `/v1/account-search?limit=20&query=${encodeURIComponent(query)}`
  })
  const last = await one("last_name", `from account where id = '${account}'`)
  const narrow = ["admin", "limited"] as const
  return [
    { operation: "get_organization", asker: "owner", what: "", path: "/v1/organization" },
    { operation: "get_account", asker: "owner", what: "", path: `/v1/accounts/${account}` },
    { operation: "get_account", asker: "admin", what: "", path: `/v1/accounts/${account}` },
    list("owner", "start"),
    list("owner", "middle", `&starting_after=${await accountAt(Math.floor(accounts / 2))}`),
    list("owner", "end", `&starting_after=${await accountAt(accounts - 52)}`),
    ...AccountStatus.literals.map((status) => list("owner", status, `&status=${status}`)),
    list("owner", "department", `&department_id=${department}`),
    list("owner", "department, paused", `&department_id=${department}&status=paused`),
    ...narrow.flatMap((asker) => [
      list(asker, "start"),
      list(asker, "protected", "&status=protected"),
      list(asker, "status_unknown", "&status=status_unknown"),
      list(asker, "department", `&department_id=${department}`)
    ]),
    ...(["owner", ...narrow] as const).flatMap((asker) => [
      found(asker, "whole number", `+1${2_000_000_000 + Math.floor(accounts / 2)}`),
      found(asker, "one name", last),
      found(asker, "start of many names", "mori"),
      found(asker, "part of a name", last.slice(-7)),
      found(asker, "two letters", "mo"),
      found(asker, "nobody", "zzyzx")
    ]),
    journal("owner", "start"),
    journal("owner", "middle", `&before_id=${await eventAt(middle)}`),
    journal("owner", "end", `&before_id=${await eventAt(60)}`),
    journal("owner", "before a moment", `&before=${moment}`),
    journal("owner", "since a moment", `&since=${moment}`),
    journal("owner", "account", `&account_id=${account}`),
    journal("owner", "admin", `&admin_id=${owner}`),
    journal("owner", "admin who did nothing", `&admin_id=${nobody}`),
    journal("owner", "action", "&action=account.paused"),
    journal("owner", "action that never was", "&action=account.created"),
    journal("owner", "action organization.*", "&action=organization.*"),
    journal("owner", "outcome failed", "&outcome=failed"),
    journal("owner", "outcome that never was", "&outcome=pending"),
    journal("owner", "credential", `&credential_id=${key}`),
    journal("billing", "start"),
    ...narrow.flatMap((asker) => [
      journal(asker, "start"),
      journal(asker, "middle", `&before=${moment}`),
      journal(asker, "account", `&account_id=${account}`),
      journal(asker, "action", "&action=account.paused"),
      journal(asker, "outcome failed", "&outcome=failed"),
      journal(asker, "action that never was", "&action=account.created")
    ])
  ]
}
