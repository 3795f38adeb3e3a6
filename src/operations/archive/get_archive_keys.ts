import { Effect } from "effect"
import { toBase64 } from "../../domain/archive/Bytes.ts"
import { ArchiveKeyList } from "../../domain/archive/SealedArchive.ts"
import { archiveReaders } from "../../domain/people/Access.ts"
import * as Operation from "../../kernel/Operation.ts"
import { ArchiveKeys, type WrappedKey } from "../../ports/archive/ArchiveKeys.ts"
import { Db } from "../../ports/Db.ts"
import * as samples from "./sealed.samples.ts"

const shown = ({ key, wrap }: WrappedKey) =>
  wrap.kdf.name !== "argon2id" ? Effect.die(new Error("An archive key without a password")) : Effect.succeed({
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
  })

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
  Effect.fnUntraced(function*(_, { caller: { organizationId }, key }) {
    const db = yield* Db
    const keys = yield* ArchiveKeys
    const wrapped = yield* db.read(organizationId, keys.wrapped(organizationId))
    return {
      object: "archive_keys" as const,
      organization_id: organizationId,
      current_key_id: wrapped[0]?.key.keyId ?? key.keyId,
      keys: yield* Effect.forEach(wrapped, shown)
    }
  })
)
