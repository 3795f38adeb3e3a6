/** The OpenAPI document, read from the declarations. */
import { Array as Arr, type Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiGroup, OpenApi } from "effect/http-api"
import { scopeTexts } from "../domain/credentials/ScopeTexts.ts"
import { contentNotice } from "../domain/JsonShapes.ts"
import { everyone } from "../domain/people/Access.ts"
import * as InputMembers from "../kernel/InputMembers.ts"
import * as Operation from "../kernel/Operation.ts"
import { operations } from "../operations/index.ts"
import { interfaceVersion } from "../transport/InterfaceVersion.ts"
import * as OpenApiGuides from "./OpenApiGuides.ts"
import * as Responses from "./Responses.ts"

export const path = "/openapi.json"

/** The JSON Schema of a member in a request. */
const memberSchema = (member: Schema.Top): object => {
  const text = JSON.stringify(InputMembers.jsonSchema(member).schema)
  return JSON.parse(text.replaceAll("#/$defs/", "#/components/schemas/"))
}

const described = (member: Schema.Top) => {
  const description = InputMembers.descriptionOf(member)
  return description === undefined ? {} : { description }
}

/** The JSON Schema of a body: its members, each with what it means, and no others. */
const bodySchema = (body: Readonly<Record<string, Schema.Top>>) => {
  const required = InputMembers.required(body)
  return {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(body).map(([name, member]) => [name, { ...memberSchema(member), ...described(member) }])
    ),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false
  }
}

const titleWords: Readonly<Record<string, string>> = { ai: "AI", api: "API" }

/** The operation's name as a person reads it: `create_api_key` is "Create API key". */
const titleOf = ({ id }: Operation.Any): string => {
  const text = id.split("_").map((word) => titleWords[word] ?? word).join(" ")
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const care =
  "\n\n**Destructive** Show the person what will be done and to which account, and get confirmation, before you call it."

/** The description of the operation, and the roles that may call it. */
const textOf = ({ description, destructive, roles, scope, summary }: Operation.Any): string =>
  `${description === undefined ? summary : `${summary} ${description}`}\n\n**Scope** \`${scope}\` · **Roles** ${
    roles.length === everyone.length ? "every one" : roles.map((role) => `\`${role}\``).join(", ")
  }${destructive ? care : ""}`

const inDemo = (value: unknown) => ({ examples: { demo: { summary: "In the demo organization", value } } })

/** The members of the sample's request that its body has. */
const bodyOf = ({ body, sample }: Operation.Any) =>
  Object.fromEntries(Object.entries(sample.request).filter(([name]) => Object.hasOwn(body, name)))

const answerOf = ({ sample, thirdPartyText }: Operation.Any) =>
  thirdPartyText ? { content_notice: contentNotice, ...sample.answer } : sample.answer

/** The parts that the derived document lacks: values in an address, closed bodies, titles, and permitted roles. */
const completed = (operation: Operation.Any, derived: OpenApi.OpenAPISpecOperation) => {
  const { content, failures, roles, scope } = operation
  const answer = derived.responses["200"]
  const headers = [
    ...(operation.idempotent ? [] : [Responses.idempotencyKey]),
    ...(content?.ranges === true ? [Responses.range] : [])
  ]
  return {
    ...derived,
    summary: titleOf(operation),
    description: textOf(operation),
    security: [{ bearer: [] }, { oauth2: [scope] }],
    "x-roles": roles,
    parameters: derived.parameters.map((parameter) => {
      const member: Schema.Top = operation.input.fields[parameter.name]
      return { ...parameter, ...described(member), schema: memberSchema(member) }
    }).concat(headers),
    ...(derived.requestBody === undefined ? {} : {
      requestBody: {
        required: InputMembers.required(operation.body).length > 0,
        content: {
          "application/json": { schema: bodySchema(operation.body), ...inDemo(bodyOf(operation)) }
        }
      }
    }),
    responses: {
      ...(content !== undefined ? Responses.contents(content) : {
        200: {
          description: "The answer.",
          headers: Responses.headersOf("200", !operation.idempotent),
          content: {
            "application/json": { ...answer?.content?.["application/json"], ...inDemo(answerOf(operation)) }
          }
        }
      }),
      ...Responses.references(failures)
    }
  }
}

const complete = (operations: ReadonlyArray<Operation.Any>, derived: OpenApi.OpenAPISpec) => {
  const byId = new Map(operations.map((operation) => [operation.id, operation]))
  return {
    ...derived,
    servers: [{ url: "/" }],
    security: [{ bearer: [] }],
    tags: [...new Set(operations.map(({ toolset }) => toolset))].map((name) => ({
      name,
      description: OpenApiGuides.toolsets[name]
    })),
    components: {
      schemas: {
        ...Object.fromEntries(
          Object.entries(derived.components.schemas).map(([name, schema]) => [name, InputMembers.lifted(schema, true)])
        ),
        ...Responses.schemas(operations)
      },
      ...Responses.components(operations),
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "An API key, or an access token of an application." },
        oauth2: {
          type: "oauth2",
          description: "An application that an admin has allowed; see the guide about OAuth.",
          flows: {
            authorizationCode: {
              authorizationUrl: "/oauth/authorize",
              tokenUrl: "/oauth/token",
              refreshUrl: "/oauth/token",
              scopes: Object.fromEntries(
                Object.entries(scopeTexts).map(([scope, { allows }]) => [scope, allows])
              )
            }
          }
        }
      }
    },
    paths: Object.fromEntries(
      Object.entries(derived.paths).map(([path, methods]) => [
        path,
        Object.fromEntries(
          Object.entries(methods).map(([method, entry]) => {
            const operation = "operationId" in entry ? byId.get(entry.operationId) : undefined
            return [method, operation === undefined || !("operationId" in entry) ? entry : completed(operation, entry)]
          })
        )
      ])
    )
  }
}

const annotations = (list: ReadonlyArray<Operation.Any>) =>
  OpenApi.annotations({
    title: "Organization Security Console API",
    version: interfaceVersion,
    description: OpenApiGuides.description,
    license: { name: "MIT", identifier: "MIT" },
    // The annotation's type is wider than its value: the document itself.
    transform: (derived) =>
      complete(list, {
        openapi: "3.1.0",
        info: derived.info,
        paths: derived.paths,
        components: derived.components,
        security: derived.security,
        tags: derived.tags
      })
  })

/** The interface as endpoints: what documents and clients are derived from. */
export class Api extends HttpApi.make("org-security-console")
  .add(HttpApiGroup.make("v1", { topLevel: true }).add(...Operation.endpoints(operations)))
  .annotateMerge(annotations(operations))
{}

/** The interface of any list of operations. */
export const apiOf = (list: Operation.List) =>
  HttpApi.make("org-security-console")
    .add(HttpApiGroup.make("v1", { topLevel: true }).add(...Arr.map(list, ({ endpoint }) => endpoint)))
    .annotateMerge(annotations(list))

/** The document of the interface. */
export const make = (list: Operation.List = operations) => OpenApi.fromApi(apiOf(list))

const texts = new WeakMap<ReadonlyArray<Operation.Any>, string>()

/** The document as it is served; it is derived once. */
export const response = (list: Operation.List) => {
  const text = texts.get(list) ?? JSON.stringify(make(list))
  texts.set(list, text)
  return HttpServerResponse.text(text, { contentType: "application/json" })
}
