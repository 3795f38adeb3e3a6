/** Requests that have shown a fault once, by what was wrong then. */
import * as World from "../../test/support/world.ts"
import { type Case, keyOf, text } from "./case.ts"

export const request = (
  surface: "REST" | "MCP" | "pages",
  method: string,
  target: string,
  body?: string,
  blame?: ReadonlyArray<string>
): Case => ({
  surface,
  kinds: ["example"],
  fate: "refused",
  ...(blame === undefined ? {} : { blame }),
  sent: {
    method,
    target,
    headers: [
      ["Host", new URL(World.baseUrl).host],
      ["Authorization", `Bearer ${keyOf("owner")}`],
      ["Accept", "application/json, text/event-stream"],
      ...(body === undefined ? [] : [["Content-Type", "application/json"] as const])
    ],
    body: body === undefined ? undefined : text(body)
  }
})

const call = (args: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"set_notification_recipients","arguments":${args}}}`

export const examples: Readonly<Record<string, Case>> = {
  "a method that nobody carries answered 500": request("MCP", "TRACE", "/mcp"),
  "a member without a name was named by nothing": request(
    "REST",
    "PUT",
    "/v1/settings/notifications",
    "{\"recipients\":\"owner\",\"\":1}",
    ["body"]
  ),
  "__proto__ was left out of a tool's arguments": request(
    "MCP",
    "POST",
    "/mcp",
    call("{\"recipients\":\"owner\",\"__proto__\":null}"),
    ["__proto__"]
  ),
  "a number was read as a moment": request("REST", "GET", "/v1/journal?before=1.5", undefined, ["before"]),
  "a year before the first was read": request("REST", "GET", "/v1/journal?since=0000-01-01T00:00:00Z", undefined, [
    "since"
  ]),
  "what is not HTTP was answered without nosniff": {
    surface: "HTTP",
    kinds: ["example"],
    fate: "refused",
    sent: text("GET / http/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
  }
}
