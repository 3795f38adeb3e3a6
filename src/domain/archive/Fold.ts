/** The form of texts in which they are compared by a search. */

/** A change of the rule or of Unicode is a new version, and older vocabularies count as missing. */
export const foldVersion = 1

const ascii = /^[\0-\x7f]*$/
/** Combining diacritical marks, but for the breve that makes й of и. */
const marks = /(?<![иИ])\u0306|[\u0300-\u0305\u0307-\u036f]/g

/** NFKD without marks, in lower case, with σ for ς and ss for ß, in NFC. */
export const fold = (text: string): string =>
  ascii.test(text)
    ? text.toLowerCase()
    : text.normalize("NFKD").replace(marks, "").toLowerCase().replaceAll("ς", "σ").replaceAll("ß", "ss").normalize(
      "NFC"
    )

const clusters = new Intl.Segmenter("und", { granularity: "grapheme" })

/** A stretch of a text, in UTF-16 units. */
export interface TextRange {
  readonly start: number
  readonly length: number
}

/**
 * The stretch of the text, in whole characters, that folds to what is at `start` of the folded text; all of the text,
 * where its characters do not fold one by one.
 */
export const unfoldedRange = (text: string, start: number, length: number): TextRange => {
  const end = start + length
  let folded = ""
  let first = 0
  let last = text.length
  for (const { index, segment } of clusters.segment(text)) {
    const before = folded.length
    folded += fold(segment)
    if (before <= start) first = index
    if (before < end && folded.length >= end) last = index + segment.length
  }
  return folded === fold(text) ? { start: first, length: last - first } : { start: 0, length: text.length }
}
