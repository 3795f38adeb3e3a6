import { describe, expect, it } from "vitest"
import { operations } from "../../src/operations/index.ts"
import { files, read } from "./repository.ts"

const sealed = "it answers what is opened: the viewer opens sealed data in the browser instead"

/** The operations that no page of the console has, each with the reason. */
const without: ReadonlyMap<string, string> = new Map([
  ["list_chats", sealed],
  ["get_chat", sealed],
  ["list_messages", sealed],
  ["get_message", sealed],
  ["search_messages", sealed],
  ["list_chat_members", sealed],
  ["list_message_edits", sealed],
  ["list_files", sealed],
  ["get_file", sealed],
  ["download_file", sealed]
])

/** The operations that the viewer's script asks for. */
const viewed = /const served: .*\[([^\]]*)\]/.exec(read("src/http/pages/archive/ViewerData.ts"))?.[1] ?? ""

const called = new Set([
  ...files("src/http/pages/**/*.ts").flatMap((file) =>
    [...read(file).matchAll(/\b([a-z]\w*)\.call\(/g)].map(([, name = ""]) => name)
  ),
  ...viewed.split(",").map((name) => name.trim())
])

/** The name of the value of an operation, by its id. */
const valueOf = (id: string): string => id.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

describe("the pages of the console", () => {
  it("call every operation that an admin may use, except those with a reason", () => {
    expect(operations.map(({ id }) => id).filter((id) => !called.has(valueOf(id)))).toEqual([...without.keys()])
  })
})
