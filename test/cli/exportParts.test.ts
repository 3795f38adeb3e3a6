import { describe, expect, layer } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { zip } from "../../src/archive/exports/Zip.ts"
import { type PartProof, verifyPart } from "../../src/cli/commands/archive/PartFile.ts"
import { CheckpointKeys } from "../../src/layers/crypto/journal/CheckpointKeys.ts"
import * as Checkpoints from "../../src/layers/sql/journal/Checkpoints.ts"
import { download, makeExported } from "../support/archive/exportedArchive.ts"
import { entriesOfZip } from "../support/archive/zips.ts"
import { runInProcess } from "../support/cli/inProcess.ts"
import * as Jobs from "../support/jobs.ts"
import { postgres } from "../support/postgres/database.ts"
import * as World from "../support/world.ts"

interface Entry {
  readonly path: string
  readonly content: Buffer
}

/** The bytes of a ZIP with these entries. */
const zipOf = (entries: ReadonlyArray<Entry>) =>
  Effect.map(
    Stream.runCollect(zip(Stream.fromIterable(
      entries.map((entry) => ({ path: entry.path, content: Stream.succeed(new Uint8Array(entry.content)) }))
    ))),
    (pieces) => Buffer.concat([...pieces])
  )

const inDirectory = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "parts-"))),
  (directory) => Effect.sync(() => fs.rmSync(directory, { recursive: true }))
)

/** A downloaded part, the exported journal that says so, and the keys that signed it. */
const stage = Effect.gen(function*() {
  const exported = yield* makeExported
  yield* Jobs.sign(true)
  const { body } = yield* exported.create("json")
  const { bytes } = yield* download(exported.key, body.id)
  yield* Jobs.sign(true)
  const tail = yield* World.get("/v1/journal/tail?limit=500", exported.key)
  const checkpoints = yield* World.query<Checkpoints.Row>(
    exported.id,
    (sql) =>
      sql`select ${sql.literal(Checkpoints.columns)} from journal_checkpoint where organization_id = ${exported.id}
        order by number`
  )
  const events: ReadonlyArray<object> = tail.body.data
  const { publicKeys } = yield* CheckpointKeys
  const directory = yield* inDirectory
  let files = 0
  const write = (content: string | Buffer) =>
    Effect.sync(() => {
      const file = path.join(directory, String(files++))
      fs.writeFileSync(file, content)
      return file
    })
  const lines = [...events, ...checkpoints.map(Checkpoints.fromRow)].map((line) => JSON.stringify(line))
  const journal = yield* write(lines.join("\n"))
  const keys = Option.some(publicKeys)
  const verify = (content: Buffer, from: Option.Option<string> = Option.none()) =>
    Effect.flatMap(write(content), (file) => verifyPart(file, from, keys))
  return { bytes, directory, entries: entriesOfZip(bytes), events, journal, keys, publicKeys, verify, write }
})

/** The findings that are not empty. */
const faults = ({ added, changed, missing, ok }: PartProof) => ({ ok, added, changed, missing })

describe("archive verify-export", () => {
  layer(World.world(postgres))((it) => {
    it.effect("a part as it was downloaded agrees with its manifest, its checkpoint and the journal", () =>
      Effect.gen(function*() {
        const { bytes, entries, journal, verify } = yield* stage
        expect(yield* verify(bytes, Option.some(journal))).toMatchObject({
          ok: true,
          files: entries.length,
          missing: [],
          changed: [],
          added: [],
          checkpoint: "good",
          journal: "sent"
        })
      }))

    it.effect("each file that is taken out, changed, added or there twice is named, and a ZIP that is cut is none", () =>
      Effect.gen(function*() {
        const { bytes, entries, journal, verify } = yield* stage
        const names = entries.map((entry) => entry.path).filter((name) => name !== "manifest.json")
        for (const name of names) {
          const without = yield* zipOf(entries.filter((entry) => entry.path !== name))
          expect(faults(yield* verify(without))).toEqual({ ok: false, missing: [name], changed: [], added: [] })
          const other = (content: Buffer) => Buffer.from(content.map((byte, at) => at === 0 ? byte ^ 1 : byte))
          const changed = entries.map((entry) =>
            entry.path === name ? { ...entry, content: other(entry.content) } : entry
          )
          expect(faults(yield* verify(yield* zipOf(changed))))
            .toEqual({ ok: false, missing: [], changed: [name], added: [] })
        }
        const [first] = names
        const invented = { path: "chats/invented.txt", content: Buffer.from("invented") }
        expect(faults(yield* verify(yield* zipOf([...entries, invented]))))
          .toEqual({ ok: false, missing: [], changed: [], added: [invented.path] })
        const twice = entries.flatMap((entry) => entry.path === first ? [entry, entry] : [entry])
        expect(faults(yield* verify(yield* zipOf(twice)))).toMatchObject({ ok: false, added: [first] })
        const whole = yield* zipOf(entries)
        expect(whole.equals(bytes)).toBe(true)
        for (const cut of [bytes.subarray(0, bytes.length - 30), bytes.subarray(0, 100), Buffer.alloc(0)]) {
          const refused = yield* Effect.flip(verify(cut, Option.some(journal)))
          expect(refused.message).toContain("is no whole ZIP")
        }
        const without = entries.filter((entry) => entry.path !== "manifest.json")
        expect((yield* Effect.flip(verify(yield* zipOf(without)))).message).toContain("has no manifest")
      }))

    it.effect("a part whose manifest was written anew differs from the journal, and one of a forged checkpoint from its key", () =>
      Effect.gen(function*() {
        const { entries, events, journal, verify, write } = yield* stage
        const manifest = JSON.parse(entries.find((entry) => entry.path === "manifest.json")?.content.toString() ?? "")
        const withManifest = (text: object) =>
          zipOf(
            entries.map((entry) =>
              entry.path === "manifest.json" ? { ...entry, content: Buffer.from(JSON.stringify(text)) } : entry
            )
          )
        const anew = yield* withManifest({ ...manifest, first_day: "2020-01-01" })
        expect(yield* verify(anew)).toMatchObject({ ok: true, journal: null })
        expect(yield* verify(anew, Option.some(journal))).toMatchObject({ ok: false, journal: "other_content" })
        const forged = { ...manifest, checkpoint: { ...manifest.checkpoint, hash: "0".repeat(64) } }
        expect(yield* verify(yield* withManifest(forged))).toMatchObject({ ok: false, checkpoint: "signature" })
        const other = { ...manifest, export: { ...manifest.export, part: 2 } }
        expect(yield* verify(yield* withManifest(other), Option.some(journal)))
          .toMatchObject({ ok: false, journal: "not_sent" })
        const broken = fs.readFileSync(journal, "utf8").split("\n").filter((_, line) => line !== events.length - 1)
        expect(yield* verify(anew, Option.some(yield* write(broken.join("\n")))))
          .toMatchObject({ ok: false, journal: "broken" })
        const words = "harbour\u001b[2K\rThe journal says that these bytes were sent."
        for (const said of [{ organization: words }, { export: { ...manifest.export, id: words } }]) {
          const refused = yield* Effect.flip(verify(yield* withManifest({ ...manifest, ...said })))
          expect(refused.message).toContain("has no manifest of an export")
        }
      }))

    it.effect("the command prints the findings and ends with 1 where there is one", () =>
      Effect.gen(function*() {
        const { bytes, entries, journal, publicKeys, write } = yield* stage
        const keys = yield* write(JSON.stringify({ keys: publicKeys }))
        const verify = (content: Buffer) =>
          Effect.flatMap(write(content), (file) =>
            Effect.promise(() =>
              runInProcess(["archive", "verify-export", file, "--journal", journal, "--public-key", keys])
            ))
        const good = yield* verify(bytes)
        expect([good.status, good.stdout]).toEqual([
          0,
          expect.stringContaining("The journal says that these bytes were sent.")
        ])
        const cut = yield* verify(yield* zipOf(entries.slice(1)))
        expect([cut.status, cut.stdout]).toEqual([1, expect.stringContaining(`MISSING  ${entries[0]?.path}`)])
      }))
  })
})
