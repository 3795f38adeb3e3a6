/** The look of an export's pages, and the characters of their texts that no page may hold. */

/** Controls, which no page may hold, and halves of surrogate pairs. */
const unshown = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\uFFFE\uFFFF]|[\uD800-\uDFFF]/gu

/** Marks of direction that last beyond their text unless they are ended. */
const opening = /[\u202A\u202B\u202D\u202E]/gu
const isolating = /[\u2066-\u2068]/gu
const closing = /\u202C/gu
const ending = /\u2069/gu

const times = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

/** The text, whose marks of direction end with it. */
export const isolated = (text: string): string => {
  const clean = text.replaceAll("\r\n", "\n").replaceAll(unshown, "\uFFFD")
  const open = Math.max(0, times(clean, opening) - times(clean, closing))
  const isolates = Math.max(0, times(clean, isolating) - times(clean, ending))
  return `${clean}${"\u202C".repeat(open)}${"\u2069".repeat(isolates)}`
}

export const pageStyle =
  `:root{color-scheme:light dark}*{box-sizing:border-box}body{margin:0 auto;max-width:46rem;padding:1rem;font:1rem/1.45 system-ui,sans-serif}
h1{font-size:1.4rem;margin:0;overflow-wrap:anywhere}.top{border-bottom:1px solid #8886;margin-bottom:1rem}nav a{margin-right:1rem}
.day{font-size:1rem;text-align:center;margin:1.5rem 0 .5rem}.message{border:1px solid #8886;border-radius:.5rem;padding:.5rem .75rem;margin:.5rem 0;max-width:92%;break-inside:avoid}
.message:target{outline:3px solid #e90}.out{margin-left:8%;background:#48f1}.deleted{border-style:dashed;border-color:#c33}
.text,.reply div,h1,.file{white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate}.time{float:right;font-size:.85rem;color:inherit}
.mark,small{font-size:.85rem;opacity:.8}.gone{color:#c33;opacity:1;font-weight:600}.reply{border-left:3px solid #88f;padding-left:.5rem;margin:.25rem 0;font-size:.9rem}
.edits{margin-top:.5rem;border-top:1px dotted #888}.edit{margin:.4rem 0 .4rem .75rem}img{max-width:100%;max-height:24rem;display:block}
.chats{padding:0;list-style:none}.chats li{padding:.5rem 0;border-bottom:1px solid #8884}
@media print{nav,footer{display:none}body{max-width:none;padding:0;font-size:10pt}.message{max-width:none}a{color:inherit}}`
