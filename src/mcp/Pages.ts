/** The pages where a person does what an assistant may not. */
import { Predicate } from "effect"
import { ConsolePageRequired, PasswordRequired } from "../domain/Failure.ts"
import type * as Operation from "../kernel/Operation.ts"
import { answer, type ErrorAnswer } from "../transport/Answer.ts"
import type { Site } from "../transport/Site.ts"

const isId = (value: unknown): value is string => typeof value === "string" && /^[\da-f-]{36}$/i.test(value)

/** The path of the operation's page; undefined where the call does not say which one it is. */
const pathOf = ({ page, personalPage }: Operation.Any, input: unknown): string | undefined => {
  const path = page ?? personalPage
  const [name] = /(?<=:)\w+/.exec(path ?? "") ?? []
  if (name === undefined) return path
  const id = Predicate.hasProperty(input, name) ? input[name] : undefined
  return isId(id) ? path?.replace(`:${name}`, id) : undefined
}

/** The failure with the address of the console's page, where something is for a person alone. */
export const leading = (
  failure: ErrorAnswer,
  operation: Operation.Any,
  input: unknown,
  site: Site | undefined
): ErrorAnswer => {
  const { code, message, param } = failure.body.error
  const path = pathOf(operation, input)
  const lacking = code === PasswordRequired.identifier
  if (!lacking && code !== ConsolePageRequired.identifier || path === undefined) return failure
  const place = site === undefined
    ? `start the service (security-console serve) and open ${path} at its address`
    : `open ${site.baseUrl}${path}`
  return answer(
    param === undefined
      ? new ConsolePageRequired({
        message: `Nothing was done: what this answers is shown once, to a person. Ask them to ${place}.`
      })
      : new ConsolePageRequired({
        param,
        message: lacking
          ? `Nothing was done: this needs the console password, which a person enters. Ask them to ${place}.`
          : `${message} Otherwise ask the person to ${place}, and enter it there.`
      })
  )
}
