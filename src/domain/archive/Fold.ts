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
 * Finds the stretch of the text, in whole characters, that folds to a stretch of the folded text: all of the text, where
 * its characters do not fold one by one. They are looked through once, however many stretches are asked for.
 */
export const unfolding = (text: string): (folded: TextRange) => TextRange => {
  if (ascii.test(text)) return (range) => range
  const characters: Array<{ readonly at: number; readonly from: number; readonly to: number }> = []
  let folded = ""
  for (const { index, segment } of clusters.segment(text)) {
    const from = folded.length
    folded += fold(segment)
    characters.push({ at: index, from, to: folded.length })
  }
  if (folded !== fold(text)) return () => ({ start: 0, length: text.length })
  return ({ length, start }) => {
    const end = start + length
    const first = characters.findLast(({ from }) => from <= start)?.at ?? 0
    const last = characters.findIndex(({ from, to }) => from < end && end <= to)
    return { start: first, length: (characters[last + 1]?.at ?? text.length) - first }
  }
}
