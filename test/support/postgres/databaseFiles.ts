/**
 * The files of a migrated PGlite as several databases of a worker have them in memory: each file once, and a copy of
 * its own for the database that writes to it.
 */
import { MemoryFS, PGlite } from "@electric-sql/pglite"
import * as fs from "node:fs"
import * as path from "node:path"

/** A file of Emscripten's file system in memory. */
interface Node {
  contents: Uint8Array<ArrayBuffer>
  usedBytes: number
  stream_ops: Operations
}

interface Operations {
  readonly write: (stream: { readonly node: Node }, ...rest: ReadonlyArray<unknown>) => number
  readonly msync: (stream: { readonly node: Node }, ...rest: ReadonlyArray<unknown>) => number
}

/** The files of a directory by their paths in it, and its folders, each after the one that it is in. */
export const read = (directory: string) => {
  const entries = fs.readdirSync(directory, { recursive: true, withFileTypes: true })
    .map((entry) => ({ entry, name: path.relative(directory, path.join(entry.parentPath, entry.name)) }))
  return {
    folders: entries.filter(({ entry }) => entry.isDirectory()).map(({ name }) => name).toSorted(),
    files: entries.filter(({ entry }) => entry.isFile())
      .map(({ name }) => ({ name, bytes: new Uint8Array(fs.readFileSync(path.join(directory, name))) }))
  }
}

/** A file system in memory that begins with those files, at once: nothing is copied before it is written to. */
export class DatabaseFiles extends MemoryFS {
  readonly #found: ReturnType<typeof read>

  constructor(found: ReturnType<typeof read>) {
    super()
    this.#found = found
  }

  override async initialSyncFs(): Promise<void> {
    const { FS } = this.pg!.Module
    const place = (name: string) => `${PGlite.paths.PGDATA}/${name}`
    const shared = new Set(this.#found.files.map(({ bytes }) => bytes))
    const own = (node: Node) => {
      if (shared.has(node.contents)) node.contents = node.contents.slice()
    }
    let operations: Operations | undefined
    const copying = (given: Operations): Operations => ({
      ...given,
      write: (stream, ...rest) => {
        own(stream.node)
        return given.write(stream, ...rest)
      },
      msync: (stream, ...rest) => {
        own(stream.node)
        return given.msync(stream, ...rest)
      }
    })
    FS.mkdirTree(PGlite.paths.PGDATA, 0o700)
    for (const name of this.#found.folders) FS.mkdir(place(name), 0o700)
    for (const { bytes, name } of this.#found.files) {
      const node: Node = FS.create(place(name), 0o600)
      node.contents = bytes
      node.usedBytes = bytes.length
      operations ??= copying(node.stream_ops)
      node.stream_ops = operations
    }
  }
}
