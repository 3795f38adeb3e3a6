import { describe, expect, it } from "@effect/vitest"
import * as zlib from "node:zlib"
import { wordsIn } from "./wordLeaks.ts"

const word = "Zyxträumeqwv"
const words = { word, other: "Zyxotherqwv" }
const around = Buffer.from(`{"text":"of ${word}, later"}`)
const header = Buffer.from([1, 0, 7, 255, 3])

const packed = {
  deflated: zlib.deflateRawSync(around),
  "deflated as zlib does": zlib.deflateSync(around),
  "packed as gzip does": zlib.gzipSync(around)
}

describe("a search for words that leaked", () => {
  it.each<readonly [string, string | Uint8Array]>([
    ["as it is", `a log of ${word} here`],
    ["in capitals", word.toUpperCase()],
    ["folded", "zyxtraumeqwv"],
    ["decomposed", word.normalize("NFD")],
    ["in hexadecimal", `\\x00${Buffer.from(word).toString("hex")}`],
    ["in base64", `key=${Buffer.from(word.toLowerCase()).toString("base64url")}`],
    ["in the middle of base64", Buffer.from(`ab${word}`).toString("base64")],
    ["in an address", `/v1?q=${encodeURIComponent("zyxtraumeqwv").replace("x", "%78")}`],
    ["in bytes", around],
    ["in UTF-16", Buffer.from(word, "utf16le")],
    ["in UTF-16 after a byte", Buffer.concat([Buffer.from([1]), Buffer.from(word, "utf16le")])],
    ...Object.entries(packed).map(([name, bytes]) => [name, bytes] as const),
    ...Object.entries(packed).map(([name, bytes]) =>
      [`${name}, behind a header`, Buffer.concat([header, bytes])] as const
    ),
    ...Object.entries(packed).map(([name, bytes]) =>
      [`${name}, in a column`, `"\\\\x${bytes.toString("hex")}"`] as const
    )
  ])("finds one %s, and no other", (_, said) => {
    expect(wordsIn(said, words)).toEqual(["word"])
  })

  it("finds none where there is none", () => {
    expect(wordsIn(`a log of zyxtraum qwv ${"ab".repeat(40)}`, words)).toEqual([])
    expect(wordsIn(zlib.gzipSync("zyx traum"), words)).toEqual([])
  })
})
