import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { vi } from "vitest"
import * as Logs from "../../src/cli/process/Logs.ts"

/** What is written to standard error while an effect logs for people. */
const written = async (logging: Effect.Effect<void>): Promise<string> => {
  let text = ""
  const spy = vi.spyOn(process.stderr, "write").mockImplementation((part) => {
    text += String(part)
    return true
  })
  await Effect.runPromise(logging.pipe(Effect.provide(Logs.layer({ logFormat: "pretty", logLevel: "info" }))))
  await new Promise((resolve) => setImmediate(resolve))
  spy.mockRestore()
  return text.replaceAll(/\u001b\[[\d;]*m/g, "")
}

const request = {
  request_id: "req_1",
  method: "GET",
  route: "/v1/accounts",
  operation: "list_protected_accounts",
  via: "rest",
  status: 403,
  code: "insufficient_scope",
  organization_id: "demo",
  credential_kind: null,
  credential_id: null,
  client_ip: "127.0.0.1",
  duration_ms: 9.947
}

describe("the log for people", () => {
  it("says of a request in one line what was asked and answered", async () => {
    expect(await written(Effect.annotateLogs(Effect.logInfo("Request answered"), request))).toMatch(
      /^\d\d:\d\d:\d\d INFO {2}GET \/v1\/accounts 403 insufficient_scope list_protected_accounts demo 127\.0\.0\.1 10 ms req_1\n$/
    )
  })

  it("says of anything else its sentence and its fields in one line, and the cause below", async () => {
    expect(await written(Effect.annotateLogs(Effect.logWarning("A job failed"), { job: "send_mail" }))).toMatch(
      /^\S+ WARN {2}A job failed job="send_mail"\n$/
    )
    const failing = Effect.catchCause(
      Effect.die(new Error("broken pipe")),
      (cause) => Effect.logError("It failed", cause)
    )
    expect(await written(failing)).toMatch(/^\S+ ERROR It failed\n.*broken pipe/)
  })

  it("marks what a demo shows in place of a phone", async () => {
    expect(await written(Effect.annotateLogs(Effect.logInfo("The code is 123"), "demo", "code"))).toMatch(
      /^\S+ INFO {2}>>> The code is 123\n$/
    )
  })
})
