/** Where a person does what an assistant may not. */
import { ConsolePageRequired } from "../domain/Failure.ts"
import type * as Operation from "../kernel/Operation.ts"
import { answer, type ErrorAnswer } from "../transport/Answer.ts"
import type { Site } from "../transport/Site.ts"

/** The failure with the address of the console's page, where an answer is for a person alone. */
export const leading = (failure: ErrorAnswer, { page }: Operation.Any, site: Site | undefined): ErrorAnswer => {
  if (failure.body.error.code !== ConsolePageRequired.identifier || page === undefined) return failure
  const place = site === undefined
    ? `start the service (security-console serve) and open ${page} at its address`
    : `open ${site.baseUrl}${page}`
  return answer(
    new ConsolePageRequired({
      message: `Nothing was done: what this answers is shown once, to a person. Ask them to ${place}.`
    })
  )
}
