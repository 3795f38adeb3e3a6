/**
 * Short text by strangers, made safe to show where people trust what they read: the name that an application gives
 * itself.
 */

const shownLength = 60

/**
 * Combining marks that a character keeps: Vietnamese and vocalized Hebrew need two, a tower over the line needs more.
 */
const shownMarks = 2

/**
 * Characters without a shape of their own, or that turn the direction of what follows; U+2800 is a letter of Braille
 * without dots.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\u2800]/gu
const spaces = /[\p{Z}\s]+/gu
const marks = /\p{M}+/gu

/**
 * The text as a person sees it: one short line without hidden characters or stacked marks; null when nothing is left.
 */
export const shownName = (name: string, length: number = shownLength): string | null => {
  const limited = name.toWellFormed()
    .replaceAll(spaces, " ")
    .replaceAll(unseen, "")
    .normalize("NFC")
    .replaceAll(
      marks,
      (run, at: number, text: string) => at === 0 || text[at - 1] === " " ? "" : [...run].slice(0, shownMarks).join("")
    )
    .replaceAll(spaces, " ")
    .trim()
  const characters = [...limited]
  const shown = characters.length > length
    ? `${characters.slice(0, length - 1).join("").trimEnd()}…`
    : limited
  return shown === "" ? null : shown
}
