import type { Mutant } from "../list.ts"

export const oauth: ReadonlyArray<Mutant> = [
  {
    file: "src/oauth/authorize/challenge.ts",
    line: ": parameters.get(\"code_challenge_method\") !== \"S256\"",
    becomes: ": parameters.get(\"code_challenge_method\") === \"none\"",
    why: "PKCE may be plain",
    tests: ["test/oauth/authorize.test.ts"]
  },
  {
    file: "src/oauth/token/authorizationCode.ts",
    line: "if (!verifier.test(proof) || secrets.challenge(Redacted.make(proof)) !== code.challenge) {",
    becomes: "if (!verifier.test(proof)) {",
    why: "any verifier redeems a code",
    tests: ["test/oauth/token.test.ts"]
  },
  {
    file: "src/oauth/token/authorizationCode.ts",
    line: "if (redirectUri !== undefined && redirectUri !== code.redirectUri) return Result.fail(invalidGrant)",
    becomes: "",
    why: "a code is redeemed for another address than it went to",
    tests: ["test/oauth/token.test.ts"]
  },
  {
    file: "src/oauth/token/authorizationCode.ts",
    line: "if (code.expiresAt <= now) return Result.fail(invalidGrant)",
    becomes: "if (code.expiresAt < now) return Result.fail(invalidGrant)",
    why: "a code lives at the end of its time",
    tests: ["test/oauth/token.test.ts"]
  },
  {
    file: "src/oauth/token/authorizationCode.ts",
    line: "yield* grants.disconnect(organizationId, connectionId, now)",
    becomes: "",
    why: "the second use of a code does not revoke what the first one got",
    tests: ["test/oauth/token.test.ts"]
  },
  {
    file: "src/oauth/token/authorizationCode.ts",
    line: "yield* grants.redeem(organizationId, code, now)",
    becomes: "",
    why: "a code works more than once",
    tests: ["test/oauth/token.test.ts"]
  },
  {
    file: "src/oauth/token/refreshToken.ts",
    line: "yield* grants.disconnect(organizationId, connectionId, now)",
    becomes: "",
    why: "a refresh token that was used twice leaves its thief connected",
    tests: ["test/oauth/refresh.test.ts"]
  },
  {
    file: "src/oauth/token/refreshToken.ts",
    line: "if (expiresAt === undefined || expiresAt <= now) return Result.fail(invalidGrant)",
    becomes: "if (expiresAt === undefined || expiresAt < now) return Result.fail(invalidGrant)",
    why: "a refresh token lives at the end of its time",
    tests: ["test/oauth/refresh.test.ts"]
  },
  {
    file: "src/oauth/token/refreshToken.ts",
    line: "if (token === null && reference !== null && reference.generation >= connection.generation) {",
    becomes: "if (token === null && reference !== null && reference.generation > 0) {",
    why: "an old refresh token that is not kept any more is no replay",
    tests: ["test/oauth/refresh.test.ts"]
  },
  {
    file: "src/layers/crypto/OAuthSecrets.ts",
    line: "formOf(kind).matches(secret) || kind === \"refresh\" && refresh.matches(secret) && isSealed(secret),",
    becomes: "formOf(kind).matches(secret) || kind === \"refresh\" && refresh.matches(secret),",
    why: "a made-up refresh token disconnects an application",
    tests: ["test/oauth/refresh.test.ts"]
  },
  {
    file: "src/oauth/token/inConnection.ts",
    line: "(kept) => kept ? Effect.succeed(decided) : Effect.fail(away)",
    becomes: "() => Effect.fail(away)",
    why: "tokens that were kept are not answered, and the next try disconnects",
    tests: ["test/oauth/doubt.test.ts"]
  },
  {
    file: "src/oauth/token/refreshToken.ts",
    line: "if (Result.isFailure(limit)) return Result.fail(limit.failure)",
    becomes: "",
    why: "an application gets tokens without end",
    tests: ["test/oauth/refresh.test.ts"]
  },
  {
    file: "src/oauth/token/refreshToken.ts",
    line: "const scopes = Scope.literals.filter((scope) => asked.includes(scope) && token.scopes.includes(scope))",
    becomes: "const scopes = Scope.literals.filter((scope) => asked.includes(scope))",
    why: "a refresh widens what was granted",
    tests: ["test/oauth/refresh.test.ts"]
  },
  {
    file: "src/oauth/token/inConnection.ts",
    line: "if (connection === null || !owns(client, connection)) return Result.fail(invalidGrant)",
    becomes: "if (connection === null) return Result.fail(invalidGrant)",
    why: "one application redeems another's code",
    tests: ["test/oauth/token.test.ts"]
  },
  {
    file: "src/oauth/token/inConnection.ts",
    line: "if (connection.revoked || connection.adminDisabled) return Result.fail(invalidGrant)",
    becomes: "if (connection.revoked) return Result.fail(invalidGrant)",
    why: "the application of a disabled admin gets new tokens",
    tests: ["test/oauth/revocation.test.ts"]
  },
  {
    file: "src/oauth/token/client.ts",
    line:
      "return client.secretDigest !== null && digests.includes(client.secretDigest) ? authenticated : yield* unknown",
    becomes: "return client.secretDigest !== null && digests.length > 0 ? authenticated : yield* unknown",
    why: "any secret proves who an application is",
    tests: ["test/oauth/token.test.ts"]
  },
  {
    file: "src/oauth/token/client.ts",
    line: "if (client === null || client.authMethod !== claim.method) return yield* unknown",
    becomes: "if (client === null) return yield* unknown",
    why: "an application with a secret proves who it is without it",
    tests: ["test/oauth/token.test.ts"]
  },
  {
    file: "src/oauth/token/revoke.ts",
    line: "if (connection === null || !owns(client, connection) || connection.revoked) return",
    becomes: "if (connection === null || connection.revoked) return",
    why: "one application disconnects another",
    tests: ["test/oauth/revocation.test.ts"]
  },
  {
    file: "src/oauth/token/target.ts",
    line: "parameters.all(\"resource\").every((asked) => asked === connection.resource)",
    becomes: "parameters.all(\"resource\").length >= 0 || connection.resource === \"\"",
    why: "a token is asked for another resource than was granted",
    tests: ["test/oauth/token.test.ts"]
  },
  {
    file: "src/oauth/RedirectUri.ts",
    line: "registered === asked || (isAcceptable(asked) && withoutPort(registered) === withoutPort(asked))",
    becomes: "asked.startsWith(registered) || (isAcceptable(asked) && withoutPort(registered) === withoutPort(asked))",
    why: "codes go to addresses that begin like a registered one",
    tests: ["test/oauth/authorize.test.ts"]
  },
  {
    file: "src/oauth/authorize/grant.ts",
    line:
      "if (!(yield* db.transaction(admin.organizationId, grants.canAccess(admin, access)))) return yield* new NotAccessible()",
    becomes: "",
    why: "an admin grants accounts that are out of reach",
    tests: ["test/oauth/granting.test.ts"]
  },
  {
    file: "src/oauth/authorize/grant.ts",
    line: "if (scopes.some(needsPassword)) {",
    becomes: "if (scopes.every(needsPassword)) {",
    why: "a scope that reads beside one that writes saves the password",
    tests: ["test/oauth/granting.test.ts"]
  },
  {
    file: "src/oauth/authorize/grant.ts",
    line: "if (!(yield* grants.isActive(admin))) return yield* new AdminGone()",
    becomes: "",
    why: "an admin who was disabled after the page was shown connects an application",
    tests: ["test/oauth/granting.test.ts"]
  },
  {
    file: "src/oauth/authorize/redirect.ts",
    line: "append(request.redirectUri, { ...members, state: request.state, iss: request.issuer.baseUrl })",
    becomes: "append(request.redirectUri, { ...members, state: request.state })",
    why: "an application cannot tell servers apart (mix-up)",
    tests: ["test/oauth/authorize.test.ts"]
  },
  {
    file: "src/oauth/authorize/prompt.ts",
    line: "(parameters.get(\"prompt\") ?? \"\").split(\" \").includes(\"none\")",
    becomes: "(parameters.get(\"prompt\") ?? \"\") === \"never\"",
    why: "prompt=none is not refused",
    tests: ["test/oauth/authorize.test.ts"]
  }
]
