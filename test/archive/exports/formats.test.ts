import { assert, describe, expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import * as fc from "fast-check"
import { conversationText, emlDocument } from "../../../src/archive/exports/EmlExport.ts"
import type { ExportedChat, ExportedMessage } from "../../../src/archive/exports/ExportedChat.ts"
import { chatFolder, filePath, safeName } from "../../../src/archive/exports/ExportNames.ts"
import { htmlPage } from "../../../src/archive/exports/HtmlExport.ts"
import { jsonEnd, jsonHead, jsonMessages } from "../../../src/archive/exports/JsonExport.ts"
import { rsmfDocument } from "../../../src/archive/exports/RsmfExport.ts"
import { concat, utf8 } from "../../../src/domain/archive/Bytes.ts"
import { messageEdits } from "../../../src/domain/archive/Message.ts"
import { records } from "../../support/archive/archiveRecords.ts"
import { entriesOfZip } from "../../support/archive/zips.ts"
import { tried } from "../../support/drawn.ts"

/** Texts that mean harm. */
const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom(
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "../../etc/passwd",
    "..\\..\\windows\\system32",
    "/absolute",
    "CON",
    "nul.txt",
    "invoice\u202Egpj.exe",
    "a\u0000b",
    "line\r\nBcc: x@example.com\r\n\r\nbody",
    "Bram:\u2028    Yes\u0085\v\f\r\n2026-01-10T00:00:00Z #99 Élodie",
    "\uD800",
    "\u2066isolate",
    "=cmd|'/c calc'!A1",
    "page.html",
    ".",
    "..",
    " . ",
    "x".repeat(500),
    "日本語".repeat(60)
  )
)

const chat: ExportedChat = {
  account: { id: "019bc0e2-1280-7092-b899-5ab87f4740e9", name: "Élodie <Marchand>\r\nX: 1" },
  id: -1001234567890n,
  type: "channel",
  title: "Ship & <b>Sail</b>\u202E",
  username: null,
  folder: "chats/chat_1_x"
}

const message: ExportedMessage = {
  id: 12n,
  at: 1_768_000_000,
  archivedAt: 1_768_000_100,
  from: { id: "77", name: "Bram", username: null },
  kind: "text",
  text: "Text",
  details: {},
  files: [],
  revisions: [],
  lostEdits: 0,
  editsLeftOut: 0,
  deletedAt: null
}

const hostileMessages = fc.tuple(records.messages, fc.array(hostile, { minLength: 4, maxLength: 4 })).map((
  [found, [name = "", text = "", forwarded = "", file = ""]]
): ReadonlyArray<ExportedMessage> =>
  found.map((record, index) => {
    const edit = {
      change: "edited" as const,
      id: String(record.id),
      seen_at: 2_000_000_000,
      edited_at: 1_999_999_999,
      text,
      details: {}
    }
    return {
      ...message,
      id: record.id,
      at: record.at,
      kind: record.kind,
      from: { id: "1", name, username: text },
      text,
      details: { ...record.details, forwarded_from: forwarded },
      files: [{
        id: "f",
        name: file,
        mime_type: name,
        bytes: 3,
        sha256: null,
        state: "saved",
        path: index % 2 === 0 ? filePath(record.id, 0, file, name) : null
      }],
      revisions: index % 3 === 0 ? messageEdits(record, [edit]) : [],
      deletedAt: index % 2 === 0 ? record.at : null
    }
  })
)

const collected = <E>(stream: Stream.Stream<Uint8Array, E>) =>
  Effect.runPromise(Effect.map(Stream.runCollect(stream), (pieces) => Buffer.from(concat(...pieces))))

const place = { exportId: "e", day: "2026-01-10", piece: 0 }

/** Every element and attribute of a page, in order, without its texts. */
const tags = (page: string) => [...page.matchAll(/<[^>]*>/g)].map(([tag]) => tag.replaceAll(/"[^"]*"/g, "\"\""))

describe("names of files in an export", () => {
  it("are one safe name each, whatever was sent: no path, no device, nothing hidden, nothing that runs", () =>
    fc.assert(
      fc.property(hostile, (text) => {
        const name = safeName(text, "otherwise")
        assert.match(name, /^[^\p{Cc}\p{Cs}/\\:*?"<>|\u202A-\u202E\u2066-\u2069]+$/u)
        assert.notMatch(name, /^\.|[. ]$|\.html$|\.exe$|^(?:con|nul)(?:\.|$)/iu)
        assert.isAtMost(utf8(name).length, 102)
        assert.equal(safeName(name, "otherwise"), name)
        for (const path of [chatFolder(-5n, text), filePath(5n, 0, text, text)]) {
          assert.equal(path.split("/").length, 2)
          assert.notInclude(path.split("/"), "..")
        }
      }),
      tried(500)
    ))
})

describe("an export as JSON", () => {
  it("is JSON whatever was written, with every message in its order, and text_entities that are the text", () =>
    fc.assert(
      fc.property(hostileMessages, (messages) => {
        const half = Math.floor(messages.length / 2)
        const text = jsonHead(chat) + jsonMessages(messages.slice(0, half), 0) +
          jsonMessages(messages.slice(half), half) + jsonEnd
        const found = JSON.parse(text)
        expect(found.messages.map(({ id }: { id: unknown }) => String(id))).toEqual(
          messages.map(({ id }) => String(id))
        )
        for (const [index, each] of found.messages.entries()) {
          const joined = each.text_entities.map((piece: { text: string }) => piece.text).join("")
          expect(joined).toBe(messages[index]?.text)
        }
      }),
      tried(200)
    ))

  it("has the shape of the messenger's own export, and edits and deletions besides", () => {
    const text = "See here now"
    const edited: ExportedMessage = {
      ...message,
      text,
      details: { reply_to_id: "11", entities: [{ type: "bold", offset: 4, length: 4 }] },
      revisions: [
        { object: "message_edit", revision: 0, text: "See", caption: null, seen_at: new Date(1e12), edited_at: null },
        {
          object: "message_edit",
          revision: 1,
          text,
          caption: null,
          seen_at: new Date(2e12),
          edited_at: new Date(1.5e12)
        }
      ],
      deletedAt: 1_768_000_500
    }
    expect(JSON.parse(jsonHead(chat) + jsonMessages([edited], 0) + jsonEnd)).toEqual({
      name: chat.title,
      type: "private_channel",
      id: -1001234567890,
      username: null,
      account: chat.account,
      dates: "UTC",
      messages: [{
        id: 12,
        type: "message",
        date: "2026-01-09T23:06:40",
        date_unixtime: "1768000000",
        edited: "2017-07-14T02:40:00",
        edited_unixtime: "1500000000",
        from: "Bram",
        from_id: "user77",
        reply_to_message_id: 11,
        text: ["See ", { type: "bold", text: "here" }, " now"],
        text_entities: [
          { type: "plain", text: "See " },
          { type: "bold", text: "here" },
          { type: "plain", text: " now" }
        ],
        edits: [
          { text: "See", caption: null, edited_at: null, seen_at: "2001-09-09T01:46:40.000Z" },
          { text, caption: null, edited_at: "2017-07-14T02:40:00.000Z", seen_at: "2033-05-18T03:33:20.000Z" }
        ],
        deleted_at: "2026-01-09T23:15:00Z",
        archived_at: "2026-01-09T23:08:20Z"
      }]
    })
  })
})

describe("a sticker and reactions", () => {
  const waved: ExportedMessage = {
    ...message,
    kind: "sticker",
    text: null,
    details: {
      sticker: { id: "3", emoji: "👋" },
      reactions: [{ emoji: "👍", count: 3 }, { emoji_id: "7", count: 1 }, { count: 2 }]
    }
  }

  it("are in an export as JSON as the messenger has them", () => {
    const [found] = JSON.parse(jsonHead(chat) + jsonMessages([waved], 0) + jsonEnd).messages
    expect(found).toMatchObject({
      media_type: "sticker",
      sticker_emoji: "👋",
      reactions: [
        { type: "emoji", emoji: "👍", count: 3 },
        { type: "custom_emoji", document_id: "7", count: 1 },
        { type: "paid", count: 2 }
      ]
    })
  })

  it("are words in an export as pages", () => {
    const page = htmlPage(chat, [waved], { page: 0, hasNext: false, addresses: () => null })
    expect(page).toContain("Sticker: 👋")
    expect(page).toContain("👍 3, custom emoji 7 1, star 2")
  })
})

describe("an export as pages", () => {
  it("has the elements of its own templates alone, whatever was written, and none that runs or loads from elsewhere", () =>
    fc.assert(
      fc.property(hostileMessages, (messages) => {
        const page = htmlPage(chat, messages, { page: 0, hasNext: false, addresses: () => null })
        const plain = htmlPage(
          { ...chat, title: "x" },
          messages.map((each) => ({ ...each, from: { id: "1", name: "x", username: "x" } })),
          { page: 0, hasNext: false, addresses: () => null }
        )
        expect(tags(page)).toEqual(tags(plain))
        assert.notMatch(page, /<(?:script|iframe|object|embed|form|link|base)\b/i)
        for (const [, address = ""] of page.matchAll(/\s(?:href|src)="([^"]*)"/g)) {
          assert.match(address, /^(?:#m\d+|files\/[^/:]+|\.\.\/\.\.\/index\.html|messages\d*\.html)$/)
        }
        assert.notMatch(page, /[\u0000-\u0008\u000B-\u001F\u007F]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])/)
      }),
      tried(200)
    ))

  it("ends each mark of direction where its text ends", () => {
    const page = htmlPage(chat, [{ ...message, text: "a\u202Eb" }], { page: 0, hasNext: false, addresses: () => null })
    expect(page).toContain("a\u202Eb\u202C</div>")
  })
})

describe("an export as mails", () => {
  it("has the headers of its own alone, and every file as it was, in both formats", () =>
    fc.assert(
      fc.asyncProperty(hostileMessages, fc.uint8Array({ maxLength: 200_000 }), async (messages, bytes) => {
        const contents = Stream.make({
          name: "one.bin",
          type: "text/x",
          content: Stream.make(bytes.subarray(0, 7), bytes.subarray(7))
        })
        const eml = await collected(emlDocument(chat, messages, place, contents))
        const [head = "", ...parts] = eml.toString("latin1").split("\r\n--=_part_of_the_export_=")
        const names = head.replaceAll("\r\n ", " ").split("\r\n").filter((line) => line !== "").map((line) =>
          line.split(":")[0]
        )
        expect(names).toEqual(["From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type"])
        assert.notMatch(eml.toString("latin1"), /[^\r]\n|\r[^\n]|[\u0080-\u00FF]/)
        const attached = parts[1]?.split("\r\n\r\n")[1] ?? ""
        assert.isTrue(Buffer.from(attached, "base64").equals(Buffer.from(bytes)))
        assert.isTrue(attached.split("\r\n").every((line) => line.length <= 76))
        const rsmf = (await collected(rsmfDocument(chat, messages, place, contents))).toString("latin1")
        const zip = Buffer.from(rsmf.split("\r\n--=_part_of_the_export_=")[2]?.split("\r\n\r\n")[1] ?? "", "base64")
        const [manifest, file] = entriesOfZip(zip)
        assert.isTrue(file?.content.equals(Buffer.from(bytes)))
        const { events, participants, version } = JSON.parse(manifest?.content.toString() ?? "")
        expect([manifest?.path, version, events.length]).toEqual(["rsmf_manifest.json", "2.0.0", messages.length])
        expect(rsmf).toContain(`X-RSMF-EventCount: ${messages.length}\r\n`)
        const known = new Set(participants.map(({ id }: { id: string }) => id))
        expect(events.every(({ participant }: { participant: string }) => known.has(participant))).toBe(true)
      }),
      tried(40)
    ))

  it("begins a line of the conversation for each message alone, whatever names and texts have in them", () =>
    fc.assert(
      fc.property(hostileMessages, hostile, (messages, title) => {
        const text = conversationText({ ...chat, title }, messages)
        const [, ...lines] = text.split(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/)
        const begun = lines.filter((line) => /^(?! {4})./u.test(line))
        expect(begun.map((line) => /^\S+Z #(\d+) .*:$/u.exec(line)?.[1])).toEqual(
          messages.map(({ id }) => String(id))
        )
      }),
      tried(200)
    ))
})
