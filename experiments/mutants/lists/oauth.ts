/** Mutants of the authorization server. */
import { change, type MutantsByFile } from "../mutant.ts"

export const oauth: MutantsByFile = {
  "src/oauth/RedirectUri.ts": [
    change({ in: "matches", replace: "registered === asked", by: "asked.startsWith(registered)" })
      .loses("codes go to addresses that begin like a registered one")
      .seenBy("test/oauth/authorize.test.ts")
  ],
  "src/oauth/authorize/pkce.ts": [
    change({ in: "checkChallenge", replace: "!== \"S256\"", by: "=== \"none\"" })
      .loses("PKCE may be plain")
      .seenBy("test/oauth/authorize.test.ts")
  ],
  "src/oauth/authorize/grant.ts": [
    change({
      in: "grant",
      replace:
        "if (!(yield* db.transaction(admin.organizationId, grants.canAccess(admin, access)))) return yield* new NotAccessible()",
      by: ""
    })
      .loses("an admin grants accounts that are out of reach")
      .seenBy("test/oauth/granting.test.ts"),
    change({ in: "grant", replace: "some", by: "every" })
      .loses("a scope that reads beside one that writes saves the password")
      .seenBy("test/oauth/granting.test.ts"),
    change({ in: "grant", replace: "if (!(yield* grants.isActive(admin))) return yield* new AdminGone()", by: "" })
      .loses("an admin who was disabled after the page was shown connects an application")
      .seenBy("test/oauth/granting.test.ts")
  ],
  "src/oauth/authorize/prompt.ts": [
    change({ in: "checkPrompt", replace: ".split(\" \").includes(\"none\")", by: " === \"never\"" })
      .loses("prompt=none is not refused")
      .seenBy("test/oauth/authorize.test.ts")
  ],
  "src/oauth/authorize/redirect.ts": [
    change({ in: "answer", replace: ", iss: request.issuer.baseUrl", by: "" })
      .loses("an application cannot tell servers apart (mix-up)")
      .seenBy("test/oauth/authorize.test.ts")
  ],
  "src/oauth/token/authorizationCode.ts": [
    change({ in: "redeemCode", replace: " || secrets.challenge(Redacted.make(proof)) !== code.challenge", by: "" })
      .loses("any verifier redeems a code")
      .seenBy("test/oauth/token.test.ts"),
    change({
      in: "redeemCode",
      replace: "if (redirectUri !== undefined && redirectUri !== code.redirectUri) return Result.fail(invalidGrant)",
      by: ""
    })
      .loses("a code is redeemed for another address than it went to")
      .seenBy("test/oauth/token.test.ts"),
    change({ in: "redeemCode", replace: "<=", by: "<" })
      .loses("a code lives at the end of its time")
      .seenBy("test/oauth/token.test.ts"),
    change({ in: "redeemCode", replace: "yield* grants.disconnect(organizationId, connectionId, now)", by: "" })
      .loses("the second use of a code does not revoke what the first one got")
      .seenBy("test/oauth/token.test.ts"),
    change({ in: "redeemCode", replace: "yield* grants.redeem(organizationId, code, now)", by: "" })
      .loses("a code works more than once")
      .seenBy("test/oauth/token.test.ts")
  ],
  "src/oauth/token/clientAuthentication.ts": [
    change({ in: "authenticateClient", replace: "includes(client.secretDigest)", by: "length > 0" })
      .loses("any secret proves who an application is")
      .seenBy("test/oauth/token.test.ts"),
    change({ in: "authenticateClient", replace: " || client.authMethod !== claim.method", by: "" })
      .loses("an application with a secret proves who it is without it")
      .seenBy("test/oauth/token.test.ts")
  ],
  "src/oauth/token/inConnection.ts": [
    change({ in: "recoverOutcome", replace: "(kept) => kept ? Effect.succeed(decided) : Effect", by: "() => Effect" })
      .loses("tokens that were kept are not answered, and the next try disconnects")
      .seenBy("test/oauth/doubt.test.ts"),
    change({ in: "decided", replace: " || !owns(client, connection)", by: "" })
      .loses("one application redeems another's code")
      .seenBy("test/oauth/token.test.ts"),
    change({ in: "decided", replace: " || connection.adminDisabled", by: "" })
      .loses("the application of a disabled admin gets new tokens")
      .seenBy("test/oauth/revocation.test.ts")
  ],
  "src/oauth/token/refreshToken.ts": [
    change({ in: "refresh", replace: "yield* grants.disconnect(organizationId, connectionId, now)", by: "" })
      .loses("a refresh token that was used twice leaves its thief connected")
      .seenBy("test/oauth/refresh.test.ts"),
    change({ in: "refresh", replace: "<=", by: "<" })
      .loses("a refresh token lives at the end of its time")
      .seenBy("test/oauth/refresh.test.ts"),
    change({ in: "refresh", replace: "generation >= connection.generation", by: "generation > 0" })
      .loses("an old refresh token that is not kept any more is no replay")
      .seenBy("test/oauth/refresh.test.ts"),
    change({ in: "refresh", replace: "if (Result.isFailure(limit)) return Result.fail(limit.failure)", by: "" })
      .loses("an application gets tokens without end")
      .seenBy("test/oauth/refresh.test.ts"),
    change({ in: "scopes", replace: " && token.scopes.includes(scope)", by: "" })
      .loses("a refresh widens what was granted")
      .seenBy("test/oauth/refresh.test.ts")
  ],
  "src/oauth/token/revoke.ts": [
    change({ in: "revoke", replace: "!owns(client, connection) || ", by: "" })
      .loses("one application disconnects another")
      .seenBy("test/oauth/revocation.test.ts")
  ],
  "src/oauth/token/tokenResource.ts": [
    change({
      in: "checkTarget",
      replace: "every((asked) => asked === connection.resource)",
      by: "length >= 0 || connection.resource === \"\""
    })
      .loses("a token is asked for another resource than was granted")
      .seenBy("test/oauth/token.test.ts")
  ]
}
