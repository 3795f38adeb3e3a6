/**
 * Unknown routes answer 404 resource_missing with an explanation: routes are public, they are in the OpenAPI document.
 */
import { isUuid } from "../domain/JsonShapes.ts"
import type * as Operation from "../kernel/Operation.ts"

const plainPart = /^(?:[A-Za-z][A-Za-z.-]{0,29}|[vV]\d|)$/

/** Words, versions and ids are repeated; anything else may be a secret that was put in the wrong place. */
const isShown = (part: string): boolean => plainPart.test(part) || isUuid(part)
const partsShown = 8

const shown = (path: string): string => {
  const parts = path.split("/")
  const some = parts.slice(0, partsShown).map((part) => isShown(part) ? part : "...")
  return [...some, ...(parts.length > partsShown ? ["..."] : [])].join("/")
}

/** The message for an unknown path. */
export type Describe = (method: string, url: string) => {
  readonly message: string
  /** The methods that the path has where it is an operation's. */
  readonly methods: string
}

/** Makes the messages for unknown paths with these operations. */
export const make = (operations: ReadonlyArray<Operation.Any>): Describe => {
  const routes = operations.map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`)
  }))
  return (method, url) => {
    const path = url.split("?", 1)[0] ?? ""
    const known = routes.filter(({ pattern }) => pattern.test(path)).map((route): string => route.method)
    // An id that is not percent-encoded UTF-8 is none, whatever the method.
    const methods = known.includes(method) ? "" : known.join(", ")
    return { message: `There is no ${method} ${shown(path)}${methods === "" ? "" : `, only ${methods}`}.`, methods }
  }
}
