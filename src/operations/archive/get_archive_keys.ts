import { Effect } from "effect"
import { toBase64 } from "../../domain/archive/Bytes.ts"
import { ArchiveKeyList } from "../../domain/archive/SealedArchive.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveKeys } from "../../ports/archive/ArchiveKeys.ts"
import { Db } from "../../ports/Db.ts"
import * as samples from "./sealed.samples.ts"

export const getArchiveKeys = Operation.sealed(
  "get_archive_keys",
  {
    summary: "Show the archive's key pair, its private half sealed under the archive password.",
    description:
      "For connections that open the archive on their user's own machine: the password is derived there, and never sent.",
    method: "GET",
    path: "/v1/archive/keys",
    toolset: "archive",
    scope: "archive:read",
    roles: archiveReaders,
    success: ArchiveKeyList,
    sample: samples.getArchiveKeys
  },
  Effect.fnUntraced(function*(_, { caller, key }) {
    const db = yield* Db
    const keys = yield* ArchiveKeys
    const wrap = yield* db.read(caller.organizationId, keys.wrap(key, "password"))
    if (wrap === null || wrap.kdf.name !== "argon2id") {
      return yield* Effect.die(new Error("An archive key without a password"))
    }
    return {
      object: "archive_keys" as const,
      organization_id: caller.organizationId,
      current_key_id: key.keyId,
      keys: [{
        key_id: key.keyId,
        suite: key.suite,
        public_key: toBase64(key.publicKey),
        wrapped_private_key: {
          nonce: toBase64(wrap.nonce),
          sealed: toBase64(wrap.sealed),
          proof: toBase64(wrap.proof)
        },
        kdf: wrap.kdf,
        made_at: key.madeAt,
        password_set_at: key.passwordSetAt
      }]
    }
  })
)
