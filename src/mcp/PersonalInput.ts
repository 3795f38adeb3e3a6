/**
 * What an account's holder gives and no model is to see: the client asks the person for it, and it is no plain
 * argument.
 */
import type { InputRequiredResult } from "@modelcontextprotocol/server"
import { Predicate } from "effect"
import { ConsolePageRequired } from "../domain/Failure.ts"
import * as InputMembers from "../kernel/InputMembers.ts"
import type * as Operation from "../kernel/Operation.ts"

/** The keys under which a message of the newest revision names its revision and its client's capabilities. */
export const revision = "io.modelcontextprotocol/protocolVersion"
export const capabilities = "io.modelcontextprotocol/clientCapabilities"

/** True if a client of these capabilities can ask a person by a form. */
export const canAsk = (client: unknown): boolean => {
  if (!Predicate.hasProperty(client, "elicitation") || !Predicate.isObject(client.elicitation)) return false
  return Object.keys(client.elicitation).length === 0 || "form" in client.elicitation
}

const titles: Readonly<Record<string, string>> = {
  code: "Code",
  password: "2FA password",
  current_password: "Current password",
  confirm_phrase: "Phrase that confirms it"
}

const fieldsOf = ({ input }: Operation.Any): Parameters<typeof InputMembers.required>[0] => input.fields

/** The form for the person. */
const property = (operation: Operation.Any, member: string) => {
  const field = fieldsOf(operation)[member]
  const description = field === undefined ? undefined : InputMembers.descriptionOf(field)
  return {
    type: "string" as const,
    title: titles[member] ?? member,
    ...(description === undefined ? {} : { description })
  }
}

/** The form that the client shows to the person. */
export const form = (operation: Operation.Any, member: string) => ({
  message: operation.summary,
  requestedSchema: {
    type: "object" as const,
    properties: { [member]: property(operation, member) },
    required: [member]
  }
})

/** The answer that makes the client ask the person and call again. */
export const asking = (operation: Operation.Any, member: string): InputRequiredResult => ({
  resultType: "input_required",
  inputRequests: {
    [member]: { method: "elicitation/create", params: { mode: "form", ...form(operation, member) } }
  }
})

type Responses = Readonly<Record<string, unknown>> | undefined

/** The person's answer; undefined where they have not answered, or did not want to. */
const answered = (responses: Responses, member: string): string | undefined => {
  const response = responses?.[member]
  if (!Predicate.hasProperty(response, "action") || response.action !== "accept") return undefined
  if (!Predicate.hasProperty(response, "content") || !Predicate.hasProperty(response.content, member)) return undefined
  const { [member]: value } = response.content
  return typeof value === "string" ? value : undefined
}

/** True if the member is among the arguments; assistants write null for nothing. */
export const says = (input: unknown, member: string): boolean =>
  Predicate.hasProperty(input, member) && input[member] !== null

/** The input with the person's answers, and the member that is still missing. */
export const given = (
  operation: Operation.Any,
  input: unknown,
  responses: Responses,
  plain: boolean
): { readonly unasked: string | undefined; readonly input: unknown } => {
  const { personal: member, personalIsArgument } = operation
  if (member === undefined) return { unasked: undefined, input }
  const refused = { unasked: plain || personalIsArgument ? undefined : member, input }
  if (!Predicate.isObject(input) || says(input, member)) return refused
  const value = answered(responses, member)
  if (value !== undefined) return { unasked: undefined, input: { ...input, [member]: value } }
  // An optional member is requested only once it turns out to be needed.
  return InputMembers.required(fieldsOf(operation)).includes(member) ? refused : { unasked: undefined, input }
}

/** The member for want of which the call was refused, and nothing was done. */
export const lacking = ({ personal: member }: Operation.Any, refused: string | undefined): string | undefined =>
  refused === member ? member : undefined

/** True if the person has to be asked now: the client can ask, has not asked yet, and has not sent the value. */
export const isToAsk = (
  member: string,
  input: unknown,
  { envelope, inputResponses }: { readonly envelope?: unknown; readonly inputResponses?: Responses }
): boolean =>
  inputResponses === undefined && !says(input, member) && Predicate.hasProperty(envelope, capabilities) &&
  canAsk(envelope[capabilities])

/** The refusal of a call without what the person gives, or with it in clear. */
export const refusal = (member: string): ConsolePageRequired =>
  new ConsolePageRequired({
    param: member,
    message:
      `Nothing was done: the ${member} is not taken as an argument, where a model would see it. A client that can ask the person (elicitation) asks for it when it is left out.`
  })
