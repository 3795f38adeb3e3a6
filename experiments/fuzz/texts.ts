/** Odd texts, numbers and JSON, as they are written on the wire. */
import * as fc from "fast-check"

const controls = ["\u0000", "\u0001", "\u007f", "\u0085", "\t", "\n", "\u001b[31m"]
const unusual = ["\u{1F600}", "\u{10FFFF}", "\u202e", "\u200d", "\ufeff", "e\u0301", "ﬁ", "İ", "ß", "\u2028", "\ufffd"]
const injections = [
  "' or '1'='1",
  "\"; drop table account; --",
  "${7*7}",
  "{{7*7}}",
  "../../../etc/passwd",
  "<script>alert(1)</script>",
  "%00",
  "%s%n",
  "\\",
  "javascript:alert(1)",
  "\r\nX-Injected: 1"
]

/** A text that some reader trips over. */
export const oddText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...controls, ...unusual, ...injections, "", " ", "null", "true", "0"),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.tuple(fc.constantFrom(...controls, ...unusual), fc.string({ maxLength: 12 })).map(([odd, rest]) => `${rest}${odd}`)
)

/** Half of a pair, as JSON writes it. */
export const loneSurrogate = fc.constantFrom("\"\\ud800\"", "\"a\\udc00b\"", "\"\\ud83d\\ud83d\"", "\"\\udfff\\ud800\"")

/** JSON text of exactly so many characters; astral ones count once. */
export const textOfLength = (length: number): fc.Arbitrary<string> =>
  fc.constantFrom("a", "é", "\u{1F600}", "\u0416").map((character) => character.repeat(Math.max(0, length)))

/** Numbers as JSON writes them, or as it does not. */
export const oddNumber = fc.constantFrom(
  "1e400",
  "-1e400",
  "1e-400",
  "-0",
  "0",
  "1.0",
  "1e0",
  "1.5",
  "9007199254740993",
  "-9007199254740993",
  "123456789012345678901234567890",
  "2147483648",
  "4294967296",
  "0.1e1",
  "1E+2"
)

/** What JavaScript reads as a number and JSON does not. */
export const badNumber = fc.constantFrom("0x10", "01", "+1", ".5", "5.", "NaN", "Infinity", "-", "1_000", "1e", "0b1")

/** Values nested deeply, within what a body may hold. */
export const deep: fc.Arbitrary<string> = fc.tuple(fc.constantFrom(10, 200, 3000, 15_000), fc.boolean()).map(
  ([depth, objects]) =>
    objects ? `${"{\"a\":".repeat(depth / 2)}1${"}".repeat(depth / 2)}` : `${"[".repeat(depth)}${"]".repeat(depth)}`
)

/** Any JSON value, as text. */
export const anyJson: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("null", "true", "false", "[]", "{}", "\"\"", "[[]]", "[null]", "{\"__proto__\":{\"a\":1}}"),
  oddNumber,
  oddText.map((value) => JSON.stringify(value)),
  loneSurrogate,
  deep,
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value))
)

/** Names that an object of JavaScript has without being given them, and others that are not known. */
export const unknownName: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    "then",
    "length",
    "id",
    "organization_id",
    "role",
    "param",
    "0",
    ""
  ),
  fc.string({ minLength: 1, maxLength: 20 }),
  oddText
)

/** Percent-encoding that is none, or of no UTF-8. */
export const badPercent = fc.constantFrom("%", "%z", "%zz", "%e0%a4", "%ff", "%c0%80", "%ed%a0%80", "%2", "%u0041")

/** Bytes that are no UTF-8. */
export const badUtf8 = fc.constantFrom(
  Uint8Array.of(0xff),
  Uint8Array.of(0xc0, 0x80),
  Uint8Array.of(0xed, 0xa0, 0x80),
  Uint8Array.of(0xf4, 0x90, 0x80, 0x80),
  Uint8Array.of(0xe2, 0x82)
)
