/** The comparison of a downloaded part with its manifest: what is missing, changed or invented. */
import { Schema } from "effect"
import { ExportManifest, manifestName } from "./ExportManifest.ts"

/** A file of the part as it was found. */
export interface FoundFile {
  readonly path: string
  readonly bytes: number
  /** In hexadecimal digits. */
  readonly sha256: string
}

export interface ExportComparison {
  /** Files that the manifest names and that are not there. */
  readonly missing: ReadonlyArray<string>
  /** Files with another content than the manifest says. */
  readonly changed: ReadonlyArray<string>
  /** Files that the manifest does not name, and second ones of a name. */
  readonly added: ReadonlyArray<string>
}

const decodeManifest = Schema.decodeUnknownOption(Schema.fromJsonString(ExportManifest))

/** The manifest that the text is; none where it is another document. */
export const readManifest = (text: string) => decodeManifest(text)

export const compareFiles = (
  { files }: Pick<ExportManifest, "files">,
  found: ReadonlyArray<FoundFile>
): ExportComparison => {
  const named = new Map(files.map((file) => [file.path, file]))
  const changed: Array<string> = []
  // A second file of a name in the manifest is not there twice.
  const added = new Set<string>()
  const seen = new Set<string>()
  for (const { bytes, path, sha256 } of found) {
    const known = named.get(path)
    if (seen.has(path) || known === undefined && path !== manifestName) added.add(path)
    else if (known !== undefined && (known.bytes !== bytes || known.sha256 !== sha256)) changed.push(path)
    seen.add(path)
  }
  const missing = [...named.keys()].filter((path) => !seen.has(path))
  return { missing: seen.has(manifestName) ? missing : [manifestName, ...missing], changed, added: [...added] }
}
