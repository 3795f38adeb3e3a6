/**
 * The data that the archive's viewer asks for in its page: operations of the API, which answer the admin of the console
 * session. What they answer of messages is sealed.
 */
import { Effect } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { Failure } from "../../../domain/Failure.ts"
import { Caller } from "../../../domain/people/Access.ts"
import type * as Operation from "../../../kernel/Operation.ts"
import { createArchiveRule } from "../../../operations/archive/create_archive_rule.ts"
import { downloadSealedFile } from "../../../operations/archive/download_sealed_file.ts"
import { getArchiveKeys } from "../../../operations/archive/get_archive_keys.ts"
import { listAccounts } from "../../../operations/archive/list_accounts.ts"
import { listArchiveRules } from "../../../operations/archive/list_archive_rules.ts"
import { listSealedBlocks } from "../../../operations/archive/list_sealed_blocks.ts"
import { listSealedFiles } from "../../../operations/archive/list_sealed_files.ts"
import { listSealedPages } from "../../../operations/archive/list_sealed_pages.ts"
import { updateArchiveRule } from "../../../operations/archive/update_archive_rule.ts"
import { ConsoleSessions } from "../../../ports/signin/ConsoleSessions.ts"
import * as Rest from "../../Rest.ts"
import type { PageRequest } from "../kit/PageRequest.ts"
import * as Serving from "../kit/Serving.ts"

const served: ReadonlyArray<Operation.Any> = [
  listAccounts,
  getArchiveKeys,
  listSealedPages,
  listSealedBlocks,
  listSealedFiles,
  downloadSealedFile,
  listArchiveRules,
  createArchiveRule,
  updateArchiveRule
]

/** The folder of the data; the text that the token of a change is bound to. */
export const path = "/console/archive/data"

/** The operations' own addresses begin with it. */
const version = "/v1"

const answer = (operation: Operation.Any) => (visit: PageRequest) =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const sessions = yield* ConsoleSessions
    if (!Serving.isOwn(request)) return yield* Serving.notCurrent()
    const admin = yield* Serving.signedIn(visit)
    const token = request.headers["x-token"] ?? ""
    if (operation.method !== "GET" && !sessions.verifyCsrf(admin.sessionId, path, token)) {
      return yield* Serving.notCurrent()
    }
    const answered: Effect.Effect<HttpServerResponse.HttpServerResponse, Failure, Rest.Services | Caller> = Rest
      .respond(
        operation,
        request,
        visit.params,
        { baseUrl: visit.site.baseUrl, headers: {} }
      )
    return yield* Effect.provideService(answered, Caller, Serving.caller(visit, admin))
  })

export const routes = served.map((operation) =>
  Serving.route(
    operation.method === "GET" ? "GET" : "POST",
    `${path}${operation.path.slice(version.length)}`,
    answer(operation),
    Serving.asJson
  )
)
