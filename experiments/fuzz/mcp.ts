/** Messages to the MCP server: calls of every tool, and what is done to their arguments, envelopes and headers. */
import * as fc from "fast-check"
import * as Tools from "../../src/mcp/Tools.ts"
import { message } from "../../test/mcp/support.ts"
import type { JsonSchema } from "../../test/support/http/documented.ts"
import * as World from "../../test/support/world.ts"
import { spoilt } from "./bodies.ts"
import { type Case, keyOf, text, type Who } from "./case.ts"
import * as Members from "./members.ts"
import { idsOf } from "./rest.ts"
import type { Stage } from "./stage.ts"
import { anyJson, unknownName } from "./texts.ts"

const revision = "2026-07-28"

interface Parts {
  readonly kinds: ReadonlyArray<string>
  readonly fate?: Case["fate"]
  readonly blame?: ReadonlyArray<string>
  readonly body: Uint8Array | string | undefined
  readonly method?: string
  readonly path?: string
  readonly headers?: ReadonlyArray<readonly [string, string]>
  readonly type?: string | undefined
  readonly who?: Who
}

const assemble = (
  { blame, body, fate = "either", headers = [], kinds, method = "POST", path = "/mcp", who = "owner", ...parts }: Parts
): Case => ({
  surface: "MCP",
  kinds,
  fate,
  ...(blame === undefined ? {} : { blame }),
  sent: {
    method,
    target: path,
    headers: [
      ["Host", new URL(World.baseUrl).host],
      ["Authorization", `Bearer ${keyOf(who)}`],
      ["Accept", "application/json, text/event-stream"],
      ...("type" in parts && parts.type === undefined
        ? []
        : [["Content-Type", parts.type ?? "application/json"] as const]),
      ...headers
    ],
    body: typeof body === "string" ? text(body) : body
  }
})

const modern = (tool: string) =>
  [
    ["MCP-Protocol-Version", revision],
    ["Mcp-Method", "tools/call"],
    ["Mcp-Name", tool]
  ] as const

const callers: fc.Arbitrary<Who> = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Who>("owner") },
  { weight: 4, arbitrary: fc.constantFrom<Who>("superadmin", "admin", "billing", "archive", "reader", "foreign") },
  { weight: 1, arbitrary: fc.constantFrom<Who>("closed", "assistant", "application", "spent") }
)

/** One JSON text of an object with the given members as they are. */
const object = (members: Readonly<Record<string, string | undefined>>): string =>
  `{${
    Object.entries(members).flatMap(([name, value]) => value === undefined ? [] : [`${JSON.stringify(name)}:${value}`])
      .join(",")
  }}`

const ids = [
  "1",
  "\"a\"",
  "null",
  "0",
  "-1",
  "1.5",
  "1e400",
  "{}",
  "[]",
  "true",
  "\"\\ud800\"",
  "9007199254740993",
  "\"\""
]

/** The cases of the MCP server. */
export const cases = (stage: Stage): fc.Arbitrary<Case> => {
  const tools = Tools.all().map(([, tool]) => ({ name: tool.name, schema: tool.inputSchema as JsonSchema }))
  const tool = fc.constantFrom(...tools)
  const meta = JSON.stringify(message("tools/call").params._meta)
  const call = (name: string, args: string, id = "1") =>
    object({
      jsonrpc: "\"2.0\"",
      id,
      method: "\"tools/call\"",
      params: object({ name: JSON.stringify(name), arguments: args, _meta: meta })
    })
  const legacy = (name: string, args: string, id = "1") =>
    object({
      jsonrpc: "\"2.0\"",
      id,
      method: "\"tools/call\"",
      params: object({ name: JSON.stringify(name), arguments: args })
    })
  const valid = tool.chain(({ name, schema }) =>
    fc.record({ draft: Members.validDraft(schema, idsOf(stage, name)), who: callers, old: fc.boolean() }).map((
      { draft, old, who }
    ) =>
      assemble({
        kinds: ["valid"],
        fate: "well-formed",
        who,
        body: old ? legacy(name, Members.write(draft)) : call(name, Members.write(draft)),
        headers: old ? [] : modern(name)
      })
    )
  )
  const damaged = tool.chain(({ name, schema }) =>
    fc.record({
      draft: Members.drafts(schema, idsOf(stage, name), { nullIsAbsent: true }),
      who: callers,
      old: fc.boolean()
    }).map((
      { draft, old, who }
    ) =>
      assemble({
        kinds: draft.kinds,
        fate: draft.fate,
        blame: draft.blame,
        who,
        body: old ? legacy(name, Members.write(draft)) : call(name, Members.write(draft)),
        headers: old ? [] : modern(name)
      })
    )
  )
  const args = fc.tuple(tool, anyJson, callers).map(([{ name }, args, who]) =>
    assemble({ kinds: ["odd arguments"], who, body: legacy(name, args) })
  )
  const envelope = fc.record({
    jsonrpc: fc.constantFrom("\"2.0\"", "\"1.0\"", "2", undefined, "null"),
    id: fc.constantFrom(...ids, undefined),
    method: fc.oneof(
      fc.constantFrom(
        "tools/call",
        "tools/list",
        "initialize",
        "ping",
        "server/discover",
        "notifications/cancelled",
        "resources/list",
        "prompts/get",
        "completion/complete",
        "logging/setLevel",
        "tasks/get",
        "subscriptions/listen",
        "",
        "__proto__",
        "rpc.discover"
      ).map((name) => JSON.stringify(name)),
      anyJson
    ),
    params: fc.oneof(
      fc.constant(undefined),
      anyJson,
      fc.constantFrom(
        "{\"name\":\"get_organization\"}",
        "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"a\",\"version\":\"1\"}}",
        "{\"name\":null}",
        "{\"cursor\":\"x\"}"
      )
    ),
    result: fc.option(anyJson, { nil: undefined, freq: 8 })
  }).map((members) => assemble({ kinds: ["odd envelope"], body: object(members) }))
  const batch = fc.array(fc.constantFrom(...ids), { maxLength: 4 }).chain((some) =>
    fc.constantFrom(
      `[${some.map((id) => legacy("get_organization", "{}", id)).join(",")}]`,
      `[${some.map(() => legacy("get_organization", "{}", "1")).join(",")},1]`,
      "[[]]",
      "[null]",
      "[{}]"
    )
  ).map((body) => assemble({ kinds: ["batch"], body }))
  const unknownTool = unknownName.map((name) => assemble({ kinds: ["unknown tool"], body: legacy(name, "{}") }))
  const headers = fc.tuple(
    tool,
    fc.constantFrom<ReadonlyArray<readonly [string, string]>>(
      [["MCP-Protocol-Version", "1999-01-01"]],
      [["MCP-Protocol-Version", revision], ["Mcp-Method", "tools/list"], ["Mcp-Name", "other"]],
      [["MCP-Protocol-Version", revision]],
      [["MCP-Protocol-Version", "\u00e9"]],
      [["Mcp-Session-Id", "x".repeat(500)]],
      [["Last-Event-ID", "1"]],
      [["X-MCP-Readonly", "TRUE"]],
      [["Origin", "null"]]
    )
  ).map(([{ name }, headers]) => assemble({ kinds: ["odd headers"], headers, body: call(name, "{}") }))
  const methods = fc.constantFrom("GET", "DELETE", "PUT", "HEAD", "OPTIONS", "PATCH", "TRACE").map((method) =>
    assemble({ kinds: ["other method"], method, body: undefined })
  )
  const toolsets = fc.constantFrom("accounts", "nothing", "", ",", "accounts,accounts", "__proto__", "%zz", "%00").map((
    names
  ) =>
    assemble({
      kinds: ["toolsets"],
      path: `/mcp?toolsets=${names}&toolsets=journal`,
      body: legacy("get_organization", "{}")
    })
  )
  const whole = spoilt(legacy("get_organization", "{}")).map(({ body, headers, kind, type }) =>
    assemble({ kinds: [kind], body, type, ...(headers === undefined ? {} : { headers }) })
  )
  return fc.oneof(
    { weight: 4, arbitrary: valid },
    { weight: 8, arbitrary: damaged },
    { weight: 2, arbitrary: args },
    { weight: 5, arbitrary: envelope },
    { weight: 1, arbitrary: batch },
    { weight: 1, arbitrary: unknownTool },
    { weight: 1, arbitrary: headers },
    { weight: 1, arbitrary: methods },
    { weight: 1, arbitrary: toolsets },
    { weight: 2, arbitrary: whole }
  )
}
