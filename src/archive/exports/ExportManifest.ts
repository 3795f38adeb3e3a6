/** The manifest of a part of an export: its content, its gaps, and the hash of each of its files. */
import { Schema } from "effect"
import { ExportFormat } from "../../domain/archive/ArchiveExport.ts"
import { Checkpoint } from "../../domain/journal/Checkpoint.ts"
import { Uuid } from "../../domain/JsonShapes.ts"
import { isOrganizationId, OrganizationId } from "../../domain/organization/OrganizationId.ts"

export const manifestName = "manifest.json"
export const pagesName = "pages.txt"

const manifestFormat = "org-security-console/archive-export/1"

const Digest = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/))

const Counts = Schema.Struct({ messages: Schema.Int, files: Schema.Int })

/** The newest manifest of the account's archive when the export was made: it covers pages up to `last_page`. */
const AccountManifest = Schema.Struct({
  sequence: Schema.String,
  at: Schema.String,
  pages: Schema.Int,
  after_page: Schema.String,
  last_page: Schema.String,
  root: Digest,
  hash: Digest
})

const fields = {
  format: Schema.Literal(manifestFormat),
  organization: OrganizationId.check(isOrganizationId),
  export: Schema.Struct({
    id: Uuid,
    part: Schema.Int,
    parts: Schema.Int,
    format: ExportFormat,
    media: Schema.Boolean,
    criteria: Schema.Struct({
      account_ids: Schema.Array(Schema.String),
      chat_ids: Schema.NullOr(Schema.Array(Schema.String)),
      since: Schema.NullOr(Schema.String),
      until: Schema.NullOr(Schema.String)
    }),
    created_by: Schema.String,
    created_at: Schema.String
  }),
  account: Schema.Struct({ id: Schema.String, name: Schema.String }),
  first_day: Schema.String,
  last_day: Schema.String,
  /** As counted when the export was made. */
  planned: Counts,
  found: Schema.Struct({ ...Counts.fields, edits: Schema.Int, deleted_on_messenger: Schema.Int }),
  /** Less was found than was planned: a cleanup, a retention or a redaction has deleted it since. */
  deleted_since: Counts,
  unreadable: Schema.Struct({ messages: Schema.Int, edits: Schema.Int, titles: Schema.Int, files: Schema.Int }),
  /** Files of a day with more than a part has room for. */
  files_left_out: Schema.Int,
  /** Edits of messages that have very many: the oldest and the newest are in the export. */
  edits_left_out: Schema.optionalKey(Schema.Int),
  pages: Schema.Struct({ count: Schema.Int, file: Schema.Literal(pagesName) }),
  archive_manifest: Schema.NullOr(AccountManifest),
  checkpoint: Schema.NullOr(Checkpoint),
  /**
   * Contents that end early, after `bytes` of the `size` that were saved; `attachment` is its name in a mail. One that is
   * `sealed` is so under a key that the password does not open, which says nothing of its content.
   */
  unreadable_files: Schema.Array(Schema.Struct({
    path: Schema.String,
    attachment: Schema.NullOr(Schema.String),
    size: Schema.Int,
    bytes: Schema.Int,
    reason: Schema.Literals(["deleted", "missing", "changed", "sealed"])
  })),
  files: Schema.Array(Schema.Struct({ path: Schema.String, bytes: Schema.Int, sha256: Digest }))
}

export const ExportManifest = Schema.Struct(fields)
export type ExportManifest = typeof ExportManifest.Type

/** The manifest without its files, which are too many to be held as objects. */
export type ManifestHead = Omit<ExportManifest, "files" | "format" | "unreadable_files">

const listed = (name: string, items: ReadonlyArray<string>): string =>
  `,\n  "${name}": [${items.length === 0 ? "" : `\n    ${items.join(",\n    ")}\n  `}]`

/** The manifest, whose files are JSON already. */
export const writeManifest = (
  head: ManifestHead,
  files: ReadonlyArray<string>,
  unreadable: ReadonlyArray<string>
): string => {
  const text = JSON.stringify({ format: manifestFormat, ...head }, null, 2)
  return `${text.slice(0, -2)}${listed("unreadable_files", unreadable)}${listed("files", files)}\n}\n`
}

export const manifestFile = (path: string, bytes: number, sha256: string): string =>
  JSON.stringify({ path, bytes, sha256 })

export const unreadableFile = (file: ExportManifest["unreadable_files"][number]): string => JSON.stringify(file)
