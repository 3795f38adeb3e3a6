/** The documents by which a client finds its way (RFC 8414 and RFC 9728). */
import { type Resource, resourceAddress } from "../../domain/oauth/OAuth.ts"
import { AuthMethod, type OAuthIssuer } from "../../domain/oauth/OAuthRecords.ts"
import { Scope } from "../../domain/people/Access.ts"
import { archiveModes } from "../authorize/archiveMode.ts"

/** The offers of the server by its settings. */
export interface ServerOffers {
  readonly registration: boolean
  readonly introspection: boolean
  readonly clientDocuments: boolean
}

/** The authorization server's own; it names what is optional where that is offered. */
export const authorizationServer = ({ baseUrl }: OAuthIssuer, offers: ServerOffers) => ({
  issuer: baseUrl,
  authorization_endpoint: `${baseUrl}/oauth/authorize`,
  token_endpoint: `${baseUrl}/oauth/token`,
  revocation_endpoint: `${baseUrl}/oauth/revoke`,
  ...(offers.registration ? { registration_endpoint: `${baseUrl}/oauth/register` } : {}),
  ...(offers.introspection
    ? {
      introspection_endpoint: `${baseUrl}/oauth/introspect`,
      introspection_endpoint_auth_methods_supported: ["client_secret_basic"]
    }
    : {}),
  scopes_supported: Scope.literals,
  response_types_supported: ["code"],
  response_modes_supported: ["query"],
  grant_types_supported: ["authorization_code", "refresh_token"],
  token_endpoint_auth_methods_supported: AuthMethod.literals,
  revocation_endpoint_auth_methods_supported: AuthMethod.literals,
  code_challenge_methods_supported: ["S256"],
  authorization_response_iss_parameter_supported: true,
  archive_modes_supported: archiveModes,
  ...(offers.clientDocuments ? { client_id_metadata_document_supported: true } : {}),
  service_documentation: `${baseUrl}/docs`
})

const names: Readonly<Record<Resource, string>> = {
  mcp: "Organization Security Console: tools for assistants",
  v1: "Organization Security Console API"
}

/**
 * A resource's own, with every scope: a client asks for what it finds here, and the admin leaves out what it may not
 * have.
 */
export const protectedResource = ({ baseUrl }: OAuthIssuer, resource: Resource) => ({
  resource: resourceAddress(baseUrl, resource),
  authorization_servers: [baseUrl],
  scopes_supported: Scope.literals,
  bearer_methods_supported: ["header"],
  resource_name: names[resource],
  resource_documentation: `${baseUrl}/docs`
})
