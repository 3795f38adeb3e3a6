/** What is said of an address that nothing answers at: routes are public, they stand in the OpenAPI document. */
import { operations } from "../operations/index.ts"
import type * as Operation from "../operations/Operation.ts"

const all: ReadonlyArray<Operation.Any> = operations

const routes = all.map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`)
}))

const longestShown = 200

/** The sentence, and the methods that the path has where it is an operation's. */
export const describe = (method: string, url: string): { readonly message: string; readonly methods: string } => {
  const path = url.split("?", 1)[0] ?? ""
  const shown = path.length > longestShown ? `${path.slice(0, longestShown)}...` : path
  const known = routes.filter(({ pattern }) => pattern.test(path)).map((route): string => route.method)
  // An id that is not percent-encoded UTF-8 is none, whatever the method.
  const methods = known.includes(method) ? "" : known.join(", ")
  return { message: `There is no ${method} ${shown}${methods === "" ? "" : `, only ${methods}`}.`, methods }
}
