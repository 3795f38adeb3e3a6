import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { confirmPhrase } from "../../src/domain/archive/ConfirmPhrase.ts"
import { postgres } from "../support/postgres/database.ts"
import { prepare } from "../support/preparations.ts"
import * as World from "../support/world.ts"
import * as Mcp from "./support.ts"

describe("the phrase that confirms a deletion, over MCP", () => {
  layer(World.world(postgres))((it) => {
    it.effect("is an argument that may be left out, and is then asked of the person by a client that can", () =>
      Effect.gen(function*() {
        const { admins, id } = yield* World.makeOrganization({ archive_key_set: false })
        const { key } = admins.owner
        yield* prepare("delete_whole_archive", { organization: id, asker: admins.owner })
        const phrase = confirmPhrase({ kind: "archive", organizationId: id })
        const call = (said: object, more: object = {}) =>
          Mcp.ask("tools/call", { name: "delete_whole_archive", arguments: said, ...more }, { key })

        const tool = Mcp.tools.all().find(([operation]) => operation.id === "delete_whole_archive")?.[1]
        assert.property(tool?.inputSchema.properties, "confirm_phrase")
        assert.notInclude(tool?.inputSchema.required ?? [], "confirm_phrase")

        const unasked = Mcp.resultOf(yield* call({}))
        assert.deepStrictEqual([unasked.body.error.code, unasked.body.error.param], [
          "parameter_invalid",
          "confirm_phrase"
        ])
        const guessed = Mcp.resultOf(yield* call({ confirm_phrase: "delete archive" }, Mcp.eliciting))
        assert.strictEqual(guessed.body.error.code, "confirm_phrase_invalid")
        assert.notInclude(JSON.stringify(guessed.body), phrase)

        const asked = yield* call({}, Mcp.eliciting)
        assert.strictEqual(asked.body.result.resultType, "input_required")
        assert.notInclude(asked.text, phrase)
        const answer = (confirm: object) => call({}, { ...Mcp.eliciting, inputResponses: { confirm_phrase: confirm } })
        const declined = Mcp.resultOf(yield* answer({ action: "decline" }))
        assert.strictEqual(declined.body.error.code, "parameter_invalid")
        const done = yield* answer({ action: "accept", content: { confirm_phrase: `  ${phrase.toUpperCase()} ` } })
        assert.strictEqual(Mcp.resultOf(done).body.archive.phase, "deleting")
      }))
  })
})
