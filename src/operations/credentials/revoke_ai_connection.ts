import { Effect } from "effect"
import { AiConnectionDetail } from "../../domain/credentials/Credential.ts"
import { ResourceMissing } from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { Uuid } from "../../domain/JsonShapes.ts"
import { everyone } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Credentials } from "../../ports/credentials/Credentials.ts"
import { IssuedCredentials } from "../../ports/credentials/IssuedCredentials.ts"
import * as samples from "./credentials.samples.ts"

export const revokeAiConnection = Operation.write(
  "revoke_ai_connection",
  {
    summary: "Disconnect an AI connection: every token of it answers 401 from the next request on.",
    description: "Owner and superadmins disconnect every connection of the organization, any other role its own.",
    method: "DELETE",
    path: "/v1/ai-connections/:connection_id",
    toolset: "admin",
    scope: "admins:write",
    roles: everyone,
    confirm: true,
    idempotent: true,
    params: { connection_id: Uuid.annotateKey({ description: "From list_ai_connections." }) },
    success: AiConnectionDetail,
    sample: samples.revokeAiConnection,
    failures: [ResourceMissing],
    journal: journalAction("ai_connection.revoked")
  },
  Effect.fnUntraced(function*({ connection_id }, { caller, now }) {
    const credentials = yield* Credentials
    const issued = yield* IssuedCredentials
    const { revoked } = yield* issued.lockConnection(caller.organizationId, connection_id)
    const found = (yield* credentials.connections(caller)).find(({ id }) => id === connection_id)
    if (found === undefined) return yield* new ResourceMissing({ param: "connection_id" })
    if (revoked) return Operation.unchanged(found)
    yield* issued.revokeConnection(caller.organizationId, connection_id, now)
    return Operation.changed({ ...found, revoked_at: found.revoked_at ?? now }, { label: found.label }, connection_id)
  })
)
