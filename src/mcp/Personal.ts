/** What an account's holder gives and no model is to see: the client asks the person for it, and it is no plain argument. */
import type { InputRequiredResult } from "@modelcontextprotocol/server"
import { Predicate } from "effect"
import { ConsolePageRequired } from "../domain/Failure.ts"
import type * as Operation from "../kernel/Operation.ts"

/** Where a client of the newest revision says what it can do. */
const capabilities = "io.modelcontextprotocol/clientCapabilities"

/** Whether the client can ask a person by a form; the revisions before ask by a stream, which no replica here keeps. */
const canAsk = (envelope: unknown): boolean => {
  if (!Predicate.hasProperty(envelope, capabilities)) return false
  const { [capabilities]: client } = envelope
  if (!Predicate.hasProperty(client, "elicitation") || !Predicate.isObject(client.elicitation)) return false
  return Object.keys(client.elicitation).length === 0 || "form" in client.elicitation
}

const titles: Readonly<Record<string, string>> = { code: "Code", password: "2FA password" }

/** The answer by which the client asks the person and calls again. */
export const asking = ({ summary }: Operation.Any, member: string): InputRequiredResult => ({
  resultType: "input_required",
  inputRequests: {
    [member]: {
      method: "elicitation/create",
      params: {
        mode: "form",
        message: summary,
        requestedSchema: {
          type: "object",
          properties: { [member]: { type: "string", title: titles[member] ?? member } },
          required: [member]
        }
      }
    }
  }
})

type Responses = Readonly<Record<string, unknown>> | undefined

/** What the person has answered; undefined where they have not, or did not want to. */
const answered = (responses: Responses, member: string): string | undefined => {
  const response = responses?.[member]
  if (!Predicate.hasProperty(response, "action") || response.action !== "accept") return undefined
  if (!Predicate.hasProperty(response, "content") || !Predicate.hasProperty(response.content, member)) return undefined
  const { [member]: value } = response.content
  return typeof value === "string" ? value : undefined
}

/** The input with what the person has answered, and the member that they have not been asked for. */
export const given = (
  { personal: member }: Operation.Any,
  input: unknown,
  responses: Responses,
  plain: boolean
): { readonly unasked: string | undefined; readonly input: unknown } => {
  if (member === undefined || plain) return { unasked: undefined, input }
  const value = answered(responses, member)
  return value === undefined || Predicate.hasProperty(input, member) || !Predicate.isObject(input)
    ? { unasked: member, input }
    : { unasked: undefined, input: { ...input, [member]: value } }
}

/** Whether the person is to be asked now: the client can, has not yet, and has not said it by itself. */
export const isToAsk = (
  member: string,
  input: unknown,
  { envelope, inputResponses }: { readonly envelope?: unknown; readonly inputResponses?: Responses }
): boolean => inputResponses === undefined && !Predicate.hasProperty(input, member) && canAsk(envelope)

/** The refusal of a call without what the person gives, or with it in clear. */
export const refusal = (member: string): ConsolePageRequired =>
  new ConsolePageRequired({
    param: member,
    message:
      `Nothing was done: the ${member} is not taken as an argument, where a model would see it. A client that can ask the person (elicitation) asks for it when it is left out; with any other, the person sends it over the REST interface.`
  })
