import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as childProcess from "node:child_process"
import * as fs from "node:fs"
import * as http from "node:http"
import * as path from "node:path"
import * as FileBlobs from "../../src/layers/blobs/FileBlobs.ts"
import { BlobStore } from "../../src/ports/archive/BlobStore.ts"
import * as Processes from "../mcp/processes.ts"
import { person } from "../oauth/person.ts"
import { archivePassword, passwordHeader } from "../support/archive/archivePassword.ts"
import { only } from "../support/archive/blobLaws.ts"
import { archivedIds, fileContent, sealChats } from "../support/archive/sealedChats.ts"
import { listening } from "../support/http/loopback.ts"
import * as Pages from "../support/http/pages.ts"
import { postgresUrl } from "../support/postgres/database.ts"
import { replica } from "../support/replicas.ts"
import { flags, main } from "../support/run/program.ts"
import { scratch } from "../support/run/scratch.ts"
import * as World from "../support/world.ts"

const text = "quarterdeck meadow"
const [chat] = archivedIds.chat
const [message] = archivedIds.message

/** Requests of the test itself, which are not of what passes. */
const untapped = "x-untapped"

/** An address in front of the service that keeps everything that passes. */
const wiretap = Effect.fnUntraced(function*(target: () => string) {
  const passed: Array<string> = []
  const server = http.createServer((request, response) => {
    const { hostname, port } = new URL(target())
    const headers = { ...request.headers, "accept-encoding": "identity" }
    const keep = (text: string) => void (request.headers[untapped] === undefined && passed.push(text))
    keep(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`)
    const forwarded = http.request(
      { host: hostname, port, method: request.method, path: request.url, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.on("data", (part: Buffer) => keep(part.toString("utf8")))
        answer.pipe(response)
      }
    )
    request.on("data", (part: Buffer) => keep(part.toString("utf8")))
    request.pipe(forwarded)
  })
  const at = yield* listening(server)
  return { base: `http://localhost:${at}`, passed }
})

const contentsIn = (folder: string): string => path.join(folder, "contents")

/** Copies what the test has stored in memory to where the service finds it. */
const copyContents = Effect.fnUntraced(function*(organization: string, folder: string) {
  const stored = yield* BlobStore
  const files = yield* Effect.provide(BlobStore, FileBlobs.layer(contentsIn(folder)))
  const blobs = yield* World.query<{ id: string; size: string }>(
    organization,
    (sql) =>
      sql`select blob_id::text as id, stored_bytes::text as size from archive_blob where organization_id = ${organization}`
  )
  for (const { id, size } of blobs) {
    yield* files.put(id, Number(size), stored.get(only(id), { start: 0, end: Number(size) }))
  }
})

/** A service with an archived account, an admin with a browser, and a folder for what the bridge keeps. */
const stage = Effect.gen(function*() {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => fs.mkdtempSync(path.join(scratch, "bridge-"))),
    (made) => Effect.sync(() => fs.rmSync(made, { recursive: true, force: true }))
  )
  const database = yield* postgresUrl
  const within = yield* replica(database)
  const { account, admins, file, id } = yield* within(Effect.gen(function*() {
    const { admins, id } = yield* World.makeOrganization()
    const account = yield* World.makeAccount(id)
    const [file = ""] = yield* sealChats(id, account, text)
    yield* copyContents(id, folder)
    yield* Pages.givePassword(id, admins.owner.id)
    return { account, admins, file, id }
  }))
  let target = ""
  const { base, passed } = yield* wiretap(() => target)
  const key = Buffer.alloc(32, 7).toString("base64")
  const { url } = yield* Processes.serve([], {
    CONSOLE_DATABASE_URL: database,
    CONSOLE_BASE_URL: base,
    CONSOLE_BLOBS: `file:${contentsIn(folder)}`,
    CONSOLE_BLOBS_SHARED: "true",
    CONSOLE_PEPPERS: key,
    CONSOLE_CHECKPOINT_KEYS: key,
    CONSOLE_CSRF_KEYS: key
  })
  target = url
  const email = yield* within(Pages.emailOf(id, admins.owner.id))
  const walk = person(base, id, email, { scopeType: "all" })
  return { account, admins, base, file, folder, id, passed, walk, within }
})
type Stage = Effect.Success<typeof stage>

/** Connects the bridge, as its user does in a browser. */
const signIn = ({ base, folder, walk }: Stage) =>
  Effect.promise(() =>
    new Promise<{ readonly code: number | null; readonly said: string }>((resolve, reject) => {
      const args = [...flags, main, "bridge", "--url", base, "--sign-in", "--no-browser"]
      const child = childProcess.spawn(process.execPath, args, {
        env: {
          PATH: process.env["PATH"] ?? "",
          NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
          HOME: folder,
          XDG_CONFIG_HOME: folder
        }
      })
      let said = ""
      let walked = false
      child.stderr.setEncoding("utf8").on("data", (part: string) => {
        said += part
        const address = /^http\S+$/m.exec(said)?.[0]
        if (address === undefined || walked || !said.endsWith("\n")) return
        walked = true
        walk(new URL(address), ["archive:read", "org:read"]).then((back) => fetch(back)).catch(reject)
      })
      child.once("close", (code) => resolve({ code, said }))
    })
  )

const connect = ({ base, folder }: Stage, client: keyof typeof Processes.clients) =>
  Processes.connect(client, {
    command: "bridge",
    args: ["--url", base],
    env: { HOME: folder, XDG_CONFIG_HOME: folder, CONSOLE_ARCHIVE_PASSWORD: archivePassword }
  })

const ofChat = ({ account }: Stage) => ({ account_id: account, chat_id: chat })

/** The tools that the bridge answers, each with a call. */
const calls = (stage: Stage): ReadonlyArray<readonly [string, Record<string, unknown>, string, unknown?]> => {
  const accounts = `/v1/archive/accounts/${stage.account}/chats`
  return [
    ["list_chats", { account_id: stage.account }, accounts],
    ["get_chat", ofChat(stage), `${accounts}/${chat}`],
    ["list_messages", { ...ofChat(stage), limit: 1 }, `${accounts}/${chat}/messages?limit=1`],
    [
      "get_message",
      { ...ofChat(stage), message_id: message, around: 5 },
      `${accounts}/${chat}/messages/${message}?around=5`
    ],
    ["list_message_edits", { ...ofChat(stage), message_id: message }, `${accounts}/${chat}/messages/${message}/edits`],
    ["list_chat_members", ofChat(stage), `${accounts}/${chat}/members`],
    ["list_files", { account_id: stage.account }, `/v1/archive/accounts/${stage.account}/files`],
    ["get_file", { file_id: stage.file }, `/v1/archive/files/${stage.file}`],
    ["search_messages", { query: "MEADOW edited" }, "/v1/archive/search", { query: "MEADOW edited" }]
  ]
}

const keyOf = ({ key }: Pick<World.Person, "key">) => typeof key === "string" ? key : Redacted.value(key)

const codeOf = (result: any) => [result.isError, JSON.parse(result.content[0].text).error?.code]

describe("security-console bridge", () => {
  it.live(
    "answers the archive's tools on its user's machine as the service would, and neither the password nor a word of a message passes",
    () =>
      Effect.gen(function*() {
        const place = yield* stage
        const { code, said } = yield* signIn(place)
        expect(code).toBe(0)
        const { command, env, args } = JSON.parse(said.slice(said.indexOf("{"))).mcpServers["security-console"]
        expect([command, args, Object.keys(env)])
          .toEqual(["security-console", ["bridge", "--url", place.base], ["CONSOLE_ARCHIVE_PASSWORD_FILE"]])
        const [file = ""] = fs.readdirSync(path.join(place.folder, "security-console")).filter((name) =>
          name.endsWith(".json")
        )
        expect(fs.statSync(path.join(place.folder, "security-console", file)).mode & 0o777).toBe(0o600)

        const newer = yield* connect(place, "2.x on 2026-07-28")
        const older = yield* connect(place, "1.x")
        const names = yield* Effect.promise(() => older.list())
        expect(names).toEqual(expect.arrayContaining(["get_organization", "list_accounts", "list_messages"]))
        expect(names.filter((name) => name.includes("sealed"))).toEqual([])
        for (const [name, args, address, body] of calls(place)) {
          const expected = yield* Effect.promise(() =>
            fetch(`${place.base}${address}`, {
              method: body === undefined ? "GET" : "POST",
              headers: {
                ...passwordHeader(),
                [untapped]: "yes",
                authorization: `Bearer ${keyOf(place.admins.owner)}`,
                "content-type": "application/json"
              },
              ...(body === undefined ? {} : { body: JSON.stringify(body) })
            }).then((answer) => answer.json())
          )
          for (const client of [newer, older]) {
            const called = yield* Effect.promise(() => client.call(name, args))
            expect([name, called.structuredContent]).toEqual([name, expected])
          }
          expect([name, JSON.stringify(expected).includes("meadow")]).toEqual([name, true])
        }
        for (const client of [newer, older]) {
          const { content } = yield* Effect.promise(() => client.call("download_file", { file_id: place.file }))
          const blob = content.find(({ type }: { type: string }) => type === "resource").resource.blob
          expect(Buffer.from(blob, "base64").toString()).toBe(fileContent)
        }
        const organization = yield* Effect.promise(() => newer.call("get_organization", {}))
        expect(organization.structuredContent).toMatchObject({ id: place.id })
        const missing = { account_id: "019bc0e2-0000-7000-8000-000000000000" }
        for (const [args, code] of [[missing, "resource_missing"], [{}, "parameter_invalid"]] as const) {
          expect(codeOf(yield* Effect.promise(() => older.call("list_chats", args)))).toEqual([true, code])
        }

        const traffic = place.passed.join("\n")
        expect(traffic).toContain("list_sealed_pages")
        const secrets = [archivePassword, passwordHeader()["archive-password"], "quarterdeck", "meadow", fileContent]
          .flatMap((secret) => [secret ?? "", Buffer.from(secret ?? "").toString("base64").slice(0, -3)])
        for (const secret of secrets) {
          expect([secret, traffic.toLowerCase().includes(secret.toLowerCase())]).toEqual([secret, false])
        }

        // Both renew at the same time, and the connection outlives it.
        const expire = place.within(World.query<{ kind: string }>(place.id, (sql) =>
          sql`update oauth_token set expires_at = created_at
            where organization_id = ${place.id} and kind = 'access' returning kind`))
        expect((yield* expire).length).toBe(1)
        const both = yield* Effect.all(
          [newer, older].map((client) =>
            Effect.promise(() => client.call("list_chats", { account_id: place.account }))
          ),
          {
            concurrency: 2
          }
        )
        expect(both.map(({ isError }) => isError ?? false)).toEqual([false, false])

        yield* place.within(World.query<object>(place.id, (sql) =>
          sql`update ai_connection set revoked_at = created_at where organization_id = ${place.id}`))
        expect(codeOf(
          yield* Effect.promise(() =>
            newer.call("list_chats", { account_id: place.account })
          )
        )).toEqual([true, "invalid_token"])
        expect(fs.existsSync(path.join(place.folder, "security-console", file))).toBe(false)
      }).pipe(Effect.scoped),
    150_000
  )
})
