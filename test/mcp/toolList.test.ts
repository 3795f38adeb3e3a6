import { describe, expect, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Operation from "../../src/kernel/Operation.ts"
import { ServedOperations } from "../../src/operations/index.ts"
import { operations, served } from "../added/index.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"
import * as Mcp from "./support.ts"

const all: ReadonlyArray<Operation.Any> = operations

const idsOf = (...toolsets: ReadonlyArray<Operation.Toolset>) =>
  all.filter(({ toolset }) => toolsets.includes(toolset)).map(({ id }) => id)

/** How many tokens a model reads: four bytes of such JSON are about one, whichever model it is. */
const tokens = (text: string): number => Buffer.byteLength(text) / 4

/** How many operations the whole interface will have. */
const planned = 106

/** Today's operations and those of the archive, which are like others of today. */
const whole = [
  ...operations,
  ...Array.from({ length: planned - operations.length }, (_, at) => {
    const like = all[(at * 7) % all.length]!
    return { ...like, id: `archive_${at}_${like.id}`, path: `${like.path}/${at}`, toolset: "archive" as const }
  })
] as unknown as typeof operations

describe("a list of tools whose address names none", () => {
  layer(World.world(postgres))((it) => {
    it.effect("takes an owner with every scope at most 8,000 tokens, today and with all 106 operations", () =>
      Effect.gen(function*() {
        const { key } = (yield* World.makeOrganization()).admins.owner
        for (const served of [operations, whole]) {
          const { body, text } = yield* Effect.provideService(
            Mcp.ask("tools/list", {}, { key }),
            ServedOperations,
            served
          )
          expect(tokens(text)).toBeLessThanOrEqual(8000)
          expect(body.result.tools.map(({ name }: { readonly name: string }) => name))
            .toEqual(idsOf("accounts", "security", "console", "journal"))
        }
        expect(whole.length).toBe(planned)
      }))

    it.effect("has the other toolsets for a credential whose tools have room, and the model knows of those that have none", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization()
        const instructions = Effect.fnUntraced(function*(asking: Mcp.Asking) {
          const { body } = yield* Mcp.ask("server/discover", {}, asking)
          return String(body.result.instructions)
        })
        const { key } = admins.owner
        const omitted = yield* instructions({ key })
        expect(omitted).toContain(
          "Not listed here are the tools of archive and admin: each can be called by its name all the same."
        )
        expect(omitted).toContain("/mcp?toolsets=all")
        expect(yield* instructions({ key, path: "/mcp?toolsets=all" })).not.toContain("Not listed")
        const { key: reader } = yield* World.makeKey(id, admins.owner.id, ["org:read", "admins:write"])
        expect(yield* instructions({ key: reader })).not.toContain("Not listed")
        const usable = all.filter(({ scope }) => scope === "org:read" || scope === "admins:write")
        expect(yield* Mcp.list({ key: reader })).toEqual(usable.map((operation) => operation.id))
        const open = served.filter((operation) => !Operation.answersSealed(operation))
        expect(yield* Mcp.list({ key, options: { completeList: true } })).toEqual(open.map((operation) => operation.id))
        expect(yield* Mcp.list({ key, path: "/mcp?tools=invite_admin" })).toEqual(["invite_admin"])
      }))

    it.effect("leaves no tool uncallable: one that is not listed answers by its name, and prompts name listed ones alone", () =>
      Effect.gen(function*() {
        const { admins } = yield* World.makeOrganization()
        const { key } = admins.owner
        expect(yield* Mcp.list({ key })).not.toContain("create_department")
        const made = yield* Mcp.call("create_department", { name: "Sales" }, { key })
        expect(Mcp.resultOf(made)).toMatchObject({ how: "done", body: { name: "Sales" } })
        const legacy = Mcp.legacy("tools/call", { name: "create_department", arguments: { name: "Support" } })
        expect(Mcp.resultOf(yield* Mcp.send({ key, body: legacy })).body.name).toBe("Support")
        const prompts = Effect.fnUntraced(function*(path: string) {
          const { body } = yield* Mcp.ask("prompts/list", {}, { key, path })
          return body.result.prompts.map(({ name }: { readonly name: string }) => name)
        })
        expect(yield* prompts("/mcp")).toEqual(["triage_new_sign_ins", "weekly_summary"])
        expect(yield* prompts("/mcp?toolsets=all")).toContain("review_access")
      }))

    it.effect("does not offer what only a person enters as an argument, unless arguments for it are set", () =>
      Effect.gen(function*() {
        const { key } = (yield* World.makeOrganization()).admins.owner
        const personal = all.filter((operation) => operation.personal !== undefined)
        expect(personal.length).toBeGreaterThan(5)
        for (const options of [{}, Mcp.personal]) {
          const { body } = yield* Mcp.ask("tools/list", {}, { key, path: "/mcp/x/all", options })
          for (const { id, personal: member, personalIsArgument } of personal) {
            const { inputSchema } = body.result.tools.find(({ name }: { readonly name: string }) => name === id)
            expect([id, Object.hasOwn(inputSchema.properties, member!)]).toEqual([
              id,
              options === Mcp.personal || personalIsArgument
            ])
          }
        }
      }))
  })
})

describe("an answer of the tools", () => {
  layer(World.world(postgres))((it) => {
    it.effect("is JSON for clients that accept that alone, or anything, or do not say", () =>
      Effect.gen(function*() {
        const { key } = (yield* World.makeOrganization()).admins.owner
        const call = { name: "get_organization", arguments: {} }
        for (const accept of ["application/json", "*/*", "application/*", "", "application/json;q=0.9, text/html"]) {
          const answers = [
            yield* Mcp.ask("tools/list", {}, { key, headers: { accept } }),
            yield* Mcp.ask("tools/call", call, { key, headers: { accept } }),
            yield* Mcp.send({ key, headers: { accept }, body: Mcp.legacy("tools/list") }),
            yield* Mcp.send({ key, headers: { accept }, body: Mcp.legacy("tools/call", call) }),
            yield* Mcp.send({ key, headers: { accept }, body: Mcp.legacy("tools/call", { ...call, _meta: { a: 1 } }) })
          ]
          for (const { body, headers, status } of answers) {
            expect([accept, status, headers.get("content-type")]).toEqual([accept, 200, "application/json"])
            expect(body.result).toBeDefined()
          }
        }
        for (const accept of ["text/html", "text/event-stream", "image/*"]) {
          const { status } = yield* Mcp.send({ key, headers: { accept }, body: Mcp.legacy("tools/list") })
          expect([accept, status]).toEqual([accept, 406])
        }
      }))
  })
})

describe("inviting over the interface", () => {
  it.each(["invite_admin", "resend_admin_invitation"])("%s says where the link is if no mail is sent", (name) => {
    const { description = "", summary } = all.find(({ id }) => id === name)!
    expect(summary).not.toMatch(/mail|goes out/)
    expect(description).toContain(
      "A mail brings the link; where no mail is sent, the admin's page of the console makes one and shows it once."
    )
  })
})
