import { Effect } from "effect"
import * as Changes from "../../changes/SharedChanges.ts"
import { ApiKey } from "../../domain/credentials/Credential.ts"
import { ResourceMissing } from "../../domain/Failure.ts"
import { journalAction } from "../../domain/journal/JournalEntry.ts"
import { Uuid } from "../../domain/JsonShapes.ts"
import { everyone } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { Credentials } from "../../ports/credentials/Credentials.ts"
import { IssuedCredentials } from "../../ports/credentials/IssuedCredentials.ts"
import * as samples from "./credentials.samples.ts"

export const revokeApiKey = Operation.write(
  "revoke_api_key",
  {
    summary: "Revoke an API key: it answers 401 from the next request on.",
    description:
      "Every key that was made with it, or with one of those, is revoked too. Owner and superadmins revoke every key of the organization, any other role its own.",
    method: "DELETE",
    path: "/v1/api-keys/:api_key_id",
    toolset: "admin",
    scope: "admins:write",
    roles: everyone,
    confirm: true,
    idempotent: true,
    params: { api_key_id: Uuid.annotateKey({ description: "From list_ai_connections." }) },
    success: ApiKey,
    sample: samples.revokeApiKey,
    failures: [ResourceMissing],
    journal: journalAction("api_key.revoked")
  },
  Effect.fnUntraced(function*({ api_key_id }, { caller, now }) {
    const credentials = yield* Credentials
    const issued = yield* IssuedCredentials
    const { revoked } = yield* issued.lockApiKey(caller.organizationId, api_key_id)
    const found = (yield* credentials.apiKeys(caller)).find(({ id }) => id === api_key_id)
    if (found === undefined) return yield* new ResourceMissing({ param: "api_key_id" })
    if (revoked) return Operation.unchanged(found)
    const details = yield* Changes.revokeApiKey(caller.organizationId, api_key_id, now)
    return Operation.changed(
      { ...found, revoked_at: found.revoked_at ?? now },
      { label: found.label, ...details },
      api_key_id
    )
  })
)
