/** The numbers of the specification, each in one place (sections 2 to 5 and 8). */
import { Duration } from "effect"

export const bioLimit = (premium: boolean): number => premium ? 140 : 70
export const maxAboutLength = 140
export const maxNameLength = 64
export const maxUsernameLength = 32
export const maxRoleLabelLength = 60
export const maxDepartmentNameLength = 80
export const maxAdminNameLength = 80
export const maxEmailLength = 254
export const maxGrantedAccounts = 1000
export const maxGrantedDepartments = 200
/** How long the link of an invitation works, and how many go out in a day: to one address, and of one organization. */
export const invitationLifetime = Duration.days(7)
export const invitationsPerAddress = 5
export const invitationsPerOrganization = 100
export const maxSearchLength = 100
export const maxSearchLimit = 50
export const defaultSearchLimit = 20
export const terminationsShown = 20
export const requestsPerMinute = 120
/** Refusals of destructive operations that are journaled in a minute, for one credential. */
export const refusalsJournaled = 10
export const defaultApiKeyExpiry = Duration.days(90)
export const maxApiKeyDays = 3650
export const maxApiKeyLabelLength = 60
export const minPasswordLength = 12
export const maxPasswordLength = 1024
/**
 * Wrong console passwords that cost nothing; each further one doubles the wait, up to the longest. They are counted for
 * an admin at one address, for a browser that the admin has signed in with, and for a credential that is asked for the
 * password again.
 */
export const freePasswordFailures = 5
/** The same for one address, whoever is tried from it: people behind one address mistype too. */
export const freeAddressFailures = 20
/** The same for one admin from all addresses and browsers that the admin has not signed in with. */
export const freeStrangersFailures = 100
/** Sign-ins of one address that a process looks at at once, and those that wait for their turn. */
export const signInsAtOnce = 4
export const signInsWaiting = 64
export const maxPasswordWait = Duration.minutes(15)
export const passwordFailuresForgotten = Duration.days(1)
/** How often wrong passwords of one admin are journaled after the first burst of them. */
export const passwordFailuresJournaled = Duration.hours(1)
/** How long a browser is known after its last sign-in, and how many of one admin's are. */
export const knownBrowserLifetime = Duration.days(180)
export const knownBrowsersKept = 20
export const consoleSessionIdle = Duration.minutes(30)
export const consoleSessionLifetime = Duration.hours(12)
export const signOutLock = Duration.hours(24)
export const takeoverWindow = Duration.hours(48)
/** How long an admin has to approve a new session, by default. */
export const defaultReviewWindow = Duration.hours(12)
/** The age that no stranger's session reaches: an hour before the platform would let it sign others out. */
export const strangersAge = Duration.hours(23)
/** Sessions that somebody else ends within this time of each other are a signal. */
export const endingsTogether = Duration.minutes(10)
/** How long an attempt to sign in is remembered, and a stranger counts against a session of the service that is revoked. */
export const attemptsRemembered = Duration.hours(24)
/** Attempts that are remembered of one account. */
export const attemptsKept = 100
/** Codes that are sent within this time of each other are told of once. */
export const codesTogether = Duration.hours(1)
/** How often an account's sessions are read, how often after many failures, and without a usable key. */
export const pollPeriod = Duration.seconds(60)
export const failingPollPeriod = Duration.minutes(5)
export const keylessPollPeriod = Duration.hours(1)
/** Failures in a row after which polls are rarer. */
export const manyFailures = 10
/** An account is unknown after so many failures in a row, or so long without a good poll. */
export const failuresUntilUnknown = 3
export const silenceUntilUnknown = Duration.minutes(10)
/** So many accounts of an organization that become unknown at once are told of each for itself, more of them together. */
export const lossesToldAlone = 20
/** How often security settings and profile are read. */
export const lookPeriod = Duration.minutes(10)
/** A wait that the platform asks for is a failure when it is longer. */
export const longestQuietFlood = Duration.minutes(10)
/** For how long a session that an admin signed out answers the same again. */
export const rejectionRemembered = Duration.hours(24)
/** How long one request goes on signing sessions out; the rest is left to the engine. */
export const longestSignOut = Duration.seconds(12)
/** How long a sign-out waits that the platform refused without saying until when. */
export const signOutRetry = Duration.minutes(15)
/** How long an archive without its plan stays readable, and then closed, before it is deleted. */
export const archiveReadonlyPeriod = Duration.days(30)
export const archiveClosedPeriod = Duration.days(60)
/** A failed archive run whose retry is due within this time does not show as an error. */
export const archiveRetryGrace = Duration.hours(1)

/** What API keys begin with by default, before `_live_`. */
export const defaultKeyPrefix = "osc"

/** Open connections of clients that a process holds at most, by default. */
export const defaultMaxClients = 2000

/** How long an Idempotency-Key is kept, and how long the request that it was first sent with may hold it. */
export const idempotencyKept = Duration.hours(24)
export const idempotencyClaim = Duration.seconds(60)

/** How long whoever acts on an account holds it, how often they hold on to it, and how long others wait for it. */
export const guardHeld = Duration.seconds(20)
export const guardRenewed = Duration.seconds(5)
export const guardWait = Duration.seconds(8)

/** How many sessions on the messenger a process keeps open by default. */
export const defaultMaxLive = 1200

/** Requests to the support that an admin may make in 24 hours, and when an answered one closes by itself. */
export const supportRequestsPerDay = 20
export const supportClosedAfter = Duration.days(30)
export const maxSupportSubjectLength = 150
export const maxSupportMessageLength = 5000

/** How long a mail is tried, for how long one that was given up counts, and how many batches of mails a run sends. */
export const mailTried = Duration.hours(24)
export const mailFailureShown = Duration.hours(24)
export const mailBatches = 20

/** How soon the first stranger signs in to an account of the simulated platform. */
export const firstStranger = { from: Duration.seconds(20), to: Duration.seconds(50) }
