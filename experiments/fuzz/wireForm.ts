/** A case as the bytes that are sent, and as text that a person can read and send again. */
import { type Case, isRequest, type Who } from "./case.ts"
import type { Stage } from "./stage.ts"

const names = /\u00a7(\w+)\u00a7/g

const withKeys = (stage: Stage, number: number, text: string): string =>
  text.replaceAll(names, (whole, who: Who) => {
    const pool = stage.keys[who]
    return pool === undefined ? whole : pool[number % pool.length] ?? whole
  })

const addressOf = (number: number): string => `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`

/** The bytes of the case of that number: its keys filled in, and an address of its own before the proxy. */
export const bytesOf = ({ sent }: Case, stage: Stage, number: number): Uint8Array => {
  if (!isRequest(sent)) return Buffer.from(withKeys(stage, number, Buffer.from(sent).toString("latin1")), "latin1")
  const { body, headers, method, target } = sent
  const own = headers.some(([name]) => name === "X-Forwarded-For")
  const head = [
    `${method} ${target} HTTP/1.1`,
    ...headers.map(([name, value]) => `${name}: ${withKeys(stage, number, value)}`),
    ...(own ? [] : [`X-Forwarded-For: ${addressOf(number)}`]),
    ...(body === undefined ? [] : [`Content-Length: ${body.length}`]),
    "",
    ""
  ].join("\r\n")
  return body === undefined ? Buffer.from(head, "latin1") : Buffer.concat([Buffer.from(head, "latin1"), body])
}

/** At most so much of a case is printed. */
const shown = 1500

/** The case for a person: what was done to it, and its bytes with the odd ones escaped. */
export const describe = (found: Case): string => {
  const { blame = [], fate, kinds, sent, surface } = found
  const bytes = isRequest(sent)
    ? Buffer.concat([
      Buffer.from(
        [`${sent.method} ${sent.target}`, ...sent.headers.map(([name, value]) => `${name}: ${value}`), "", ""].join(
          "\n"
        )
      ),
      sent.body ?? Buffer.alloc(0)
    ])
    : Buffer.from(sent)
  const text = bytes.toString("latin1").replaceAll(
    /[^\n\x20-\x7e]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`
  )
  return [
    `${surface}: ${kinds.join(", ")}; to be ${fate}${
      blame.length === 0 ? "" : ` for ${blame.map((name) => JSON.stringify(name)).join(" or ")}`
    }`,
    text.length > shown ? `${text.slice(0, shown)}… (${bytes.length} bytes)` : text
  ].join("\n")
}
