import type { Mutant } from "../list.ts"

export const domain: ReadonlyArray<Mutant> = [
  {
    file: "src/domain/Access.ts",
    line: "export const canAccessEveryAccount = (role: Role): boolean => role !== \"admin\" && role !== \"archive\"",
    becomes: "export const canAccessEveryAccount = (role: Role): boolean => role !== \"archive\"",
    why: "an admin reaches accounts that were not granted",
    tests: ["test/properties/missing.test.ts"]
  },
  {
    file: "src/domain/Access.ts",
    line: "export const protectors: ReadonlyArray<Role> = [\"owner\", \"superadmin\", \"admin\"]",
    becomes: "export const protectors: ReadonlyArray<Role> = [\"owner\", \"superadmin\", \"admin\", \"billing\"]",
    why: "billing may change accounts",
    tests: ["test/spec/01_access.test.ts"]
  },
  {
    file: "src/domain/Access.ts",
    line: "export const superadmins: ReadonlyArray<Role> = [\"owner\", \"superadmin\"]",
    becomes: "export const superadmins: ReadonlyArray<Role> = [\"owner\", \"superadmin\", \"admin\"]",
    why: "an admin sees everybody's credentials and the whole journal",
    tests: ["test/spec/04_2_ai_connections.test.ts"]
  },
  {
    file: "src/domain/Access.ts",
    line:
      "export const readsArchive = (role: Role, granted: boolean): boolean => role === \"admin\" ? granted : role !== \"billing\"",
    becomes: "export const readsArchive = (role: Role, _granted: boolean): boolean => role !== \"billing\"",
    why: "an admin reads the archive without the grant",
    tests: ["test/properties/masking.test.ts", "test/spec/01_service.test.ts"]
  },
  {
    file: "src/domain/Access.ts",
    line: "export const needsPassword = (scope: Scope): boolean => !readingScopes.includes(scope)",
    becomes:
      "export const needsPassword = (scope: Scope): boolean => !scope.endsWith(\":read\") && scope !== \"accounts:write\"",
    why: "a scope that writes is granted without the console password",
    tests: ["test/spec/05_1_credential_operations.test.ts"]
  },
  {
    file: "src/domain/Account.ts",
    line: "...(seesDevices(caller.role)",
    becomes: "...(caller.role !== \"billing\"",
    why: "the archive role sees people's devices",
    tests: ["test/properties/masking.test.ts"]
  },
  {
    file: "src/domain/Account.ts",
    line: "archive: archiveSummary(facts, organization, now, caller.readsArchive)",
    becomes: "archive: archiveSummary(facts, organization, now, true)",
    why: "whoever may not read the archive sees what it is at",
    tests: ["test/properties/masking.test.ts"]
  },
  {
    file: "src/domain/Status.ts",
    line: "if (now.getTime() < until.getTime()) return { status: \"hijack_blocked\", until }",
    becomes: "if (now.getTime() <= until.getTime()) return { status: \"hijack_blocked\", until }",
    why: "a takeover counts a millisecond too long, and pages disagree with the single read",
    tests: ["test/domain/Status.test.ts"]
  },
  {
    file: "src/domain/Status.ts",
    line:
      "export const isActive = (status: AccountStatus): boolean => status !== \"paused\" && status !== \"available\"",
    becomes: "export const isActive = (status: AccountStatus): boolean => status !== \"paused\"",
    why: "an offboarded account can be paused",
    tests: ["test/spec/04_11_pause_and_resume.test.ts"]
  },
  {
    file: "src/domain/JournalEvent.ts",
    line: "export const hashed = ({ at, hash: _, ...event }: JournalEvent) => ({ ...event, at: at.toISOString() })",
    becomes:
      "export const hashed = ({ at, hash: _, ip: __, ...event }: JournalEvent) => ({ ...event, at: at.toISOString() })",
    why: "the address of a journaled act can be altered unseen",
    tests: ["test/properties/chain.test.ts"]
  },
  {
    file: "src/domain/JournalEvent.ts",
    line: "export const chainSeed = (organizationId: string): string => `journal/1\\n${organizationId}`",
    becomes: "export const chainSeed = (_organizationId: string): string => \"journal/1\"",
    why: "whole journals can be swapped unseen",
    tests: ["test/properties/chain.test.ts"]
  },
  {
    file: "src/domain/Wire.ts",
    line: "(text: string) => text.isWellFormed() && !control.test(text),",
    becomes: "(text: string) => text.isWellFormed(),",
    why: "control characters reach the database and people's screens",
    tests: ["test/http/body.test.ts"]
  },
  {
    file: "src/domain/Wire.ts",
    line:
      "export const PageLimit = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })).annotate({ default: 50 })",
    becomes:
      "export const PageLimit = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 })).annotate({ default: 50 })",
    why: "one request reads ten times as much",
    tests: ["test/spec/04_7_list_accounts.test.ts"]
  },
  {
    file: "src/domain/Limits.ts",
    line: "export const requestsPerMinute = 120",
    becomes: "export const requestsPerMinute = 121",
    why: "the limit is not the specification's",
    tests: ["test/spec/08_limits.test.ts"]
  },
  {
    file: "src/domain/Connecting.ts",
    line: "if (known !== null && (known.offboarded_at === null || !known.accessible)) return \"already_connected\"",
    becomes: "if (known !== null && known.offboarded_at === null) return \"already_connected\"",
    why: "whoever connects a person again comes to reach an account that they never reached",
    tests: ["test/properties/sequences.test.ts"]
  }
]
