/** What one case is: a request in bytes, what has been done to it, and what must come of it. */

export type Surface = "REST" | "MCP" | "OAuth" | "pages" | "HTTP"

/** Whose credential a request carries; each is a pool of keys, so that the limit of one does not end a run. */
export type Who =
  | "owner"
  | "superadmin"
  | "admin"
  | "billing"
  | "archive"
  | "reader"
  | "closed"
  | "foreign"
  | "application"
  | "assistant"
  | "spent"

/** A request whose framing is sound; what it says need not be. */
export interface Request {
  readonly method: string
  readonly target: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: Uint8Array | undefined
}

export interface Case {
  readonly surface: Surface
  /** The names of what has been done to a valid request; `valid` alone where nothing has. */
  readonly kinds: ReadonlyArray<string>
  /** Whether the request has to be refused, may not be refused as malformed, or neither is known. */
  readonly fate: "refused" | "well-formed" | "either"
  /** What a refusal as `parameter_invalid` may name; nothing is known where it is left out. */
  readonly blame?: ReadonlyArray<string>
  /** A refusal of it may leave something behind by design, such as the end of a connection whose token came twice. */
  readonly leavesTraces?: boolean
  /** What is sent: a request, or bytes as they are. */
  readonly sent: Request | Uint8Array
  /** Bytes that are no whole request may be left without an answer. */
  readonly incomplete?: boolean
}

/** Stands for the key of somebody, until the case's number says which of the pool. */
export const keyOf = (who: Who): string => `§${who}§`

export const text = (value: string): Uint8Array => new TextEncoder().encode(value)

export const isRequest = (sent: Request | Uint8Array): sent is Request => !(sent instanceof Uint8Array)
