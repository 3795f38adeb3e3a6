import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as fs from "node:fs"
import type * as net from "node:net"
import * as path from "node:path"
import * as Console from "../../src/layers/Console.ts"
import * as Simulated from "../../src/layers/messenger/simulated/Simulated.ts"
import * as Processes from "../mcp/processes.ts"
import * as Mcp from "../mcp/support.ts"
import * as MailServer from "../support/mail/mailServer.ts"
import { fillDirectory } from "../support/postgres/database.ts"
import { scratch } from "../support/run/scratch.ts"
import * as World from "../support/world.ts"

const from = "Console <console@console.test>"

describe("mail", () => {
  it.live(
    "of a process that is killed while it sends is sent by the next one, once, with the link that the assistant's process was told",
    () =>
      Effect.gen(function*() {
        const directory = yield* Effect.acquireRelease(
          Effect.sync(() => {
            const folder = fs.mkdtempSync(path.join(scratch, "mail-"))
            fillDirectory(folder)
            return folder
          }),
          (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
        )
        const embedded = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
          Effect.provide(
            effect,
            Layer.fresh(Layer.provideMerge(
              Simulated.layerSql,
              Console.layerEmbedded({ directory, background: false })
            ))
          )
        const { admins } = yield* embedded(World.makeOrganization())

        const connected: Array<net.Socket> = []
        const silent = yield* MailServer.raw((socket) => void connected.push(socket))
        const mcp = yield* Processes.start(["--data", directory, "--base-url", "https://console.test/at/"], {
          CONSOLE_API_KEY: Redacted.value(admins.owner.key),
          CONSOLE_MAIL_URL: silent,
          CONSOLE_MAIL_FROM: from
        })
        const { result } = yield* mcp.ask(
          Mcp.legacy(
            "tools/call",
            { name: "invite_admin", arguments: { email: "nora@example.com", role: "admin" } },
            1
          )
        )
        expect(result.structuredContent.status).toBe("invited")
        while (connected.length === 0) yield* Effect.sleep("50 millis")
        yield* mcp.stop("SIGKILL")

        const rows = embedded(SqlClient.SqlClient.use((sql) =>
          sql<{ sent: boolean; sealed: boolean; claimed: boolean }>`
            select sent_at is not null as sent, letter_sealed is not null as sealed, claimed_until is not null as claimed
            from mail`
        ))
        expect(yield* rows).toEqual([{ sent: false, sealed: true, claimed: true }])
        // What the killed process has claimed is free after a minute.
        yield* embedded(SqlClient.SqlClient.use((sql) => sql`update mail set claimed_until = created_at`))

        const server = yield* MailServer.start()
        const service = yield* Processes.serve(["--data", directory], {
          CONSOLE_MAIL_URL: server.url,
          CONSOLE_MAIL_FROM: from
        })
        while (server.received.length === 0) yield* Effect.sleep("50 millis")
        yield* Effect.sleep("2 seconds")
        yield* service.stop()
        expect(server.received.map(({ to }) => to)).toEqual([["nora@example.com"]])
        expect(server.received[0]?.text.replaceAll("=\r\n", "")).toMatch(
          /https:\/\/console\.test\/at\/console\/invitation\?token=(?:3D)?/
        )
        expect(yield* rows).toEqual([{ sent: true, sealed: false, claimed: false }])
      }),
    120_000
  )
})
