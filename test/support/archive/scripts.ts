/** Texts of all scripts, with what is hard to compare in them. */
import * as fc from "fast-check"

const words = [
  "hello",
  "connection",
  "timeout",
  "example.com",
  "+49 151 234",
  "ab",
  "ABBA",
  "naïve",
  "Straße",
  "STRASSE",
  "ẞ",
  "ΟΔΟΣ",
  "οδός",
  "ς",
  "договор",
  "сообщение",
  "йод",
  "ёж",
  "и\u0306од",
  "İstanbul",
  "ISTANBUL",
  "ıslak",
  "日本",
  "日本語",
  "東京都",
  "한국어",
  "한",
  "ﾃｽﾄ",
  "テスト",
  "नमस्ते",
  "ภาษาไทย",
  "שלום",
  "مرحبا",
  "ﬁnal",
  "ǆ",
  "e\u0301\u0323",
  "\u0301",
  "👩‍👩‍👧",
  "👋🏽",
  "𐐨𐐀",
  "①②",
  "½",
  "x_y",
  "don't",
  "\"quoted\"",
  "tab\tnewline\n",
  "\u00a0"
]

/** Words of these, random texts among them. */
export const texts = fc.array(
  fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...words) }, {
    weight: 1,
    arbitrary: fc.string({ unit: "binary", maxLength: 6 })
  }),
  { maxLength: 5 }
).map((parts) => parts.join(" "))
