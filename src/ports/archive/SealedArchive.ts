/** An archive as it is stored, at a service elsewhere. */
import { Context, type Effect, Schema } from "effect"
import type { AccountId } from "../../domain/accounts/Account.ts"
import type {
  ArchiveKeyList,
  SealedBlockList,
  SealedFileList,
  SealedPageList
} from "../../domain/archive/SealedArchive.ts"
import type {
  sealedBlocksParts,
  sealedFilesParts,
  sealedPagesParts,
  sealedScope
} from "../../domain/archive/SealedRequests.ts"

/** The service refused a request, or did not answer it: the code and message that it is answered with. */
export class RemoteRefusal extends Schema.TaggedError<RemoteRefusal>()("RemoteRefusal", {
  code: Schema.String,
  message: Schema.String,
  param: Schema.optionalKey(Schema.String)
}) {}

type Input<Fields extends Schema.Struct.Fields> = Schema.Struct.Type<Fields>

/** A request of an account's archive: one part. */
export type SealedPagesRequest = Input<typeof sealedPagesParts>
/** A request of a search: its scope and one part. */
export type SealedBlocksRequest = Input<typeof sealedScope> & Input<typeof sealedBlocksParts>
/** A request of files: one part. */
export type SealedFilesRequest = Input<typeof sealedFilesParts>

export class SealedArchive extends Context.Service<SealedArchive, {
  readonly keys: Effect.Effect<typeof ArchiveKeyList.Type, RemoteRefusal>
  pages(accountId: AccountId, request: SealedPagesRequest): Effect.Effect<SealedPageList, RemoteRefusal>
  files(request: SealedFilesRequest): Effect.Effect<SealedFileList, RemoteRefusal>
  blocks(request: SealedBlocksRequest): Effect.Effect<SealedBlockList, RemoteRefusal>
}>()("org-security-console/ports/archive/SealedArchive") {}
