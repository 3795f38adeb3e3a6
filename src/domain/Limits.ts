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
/** The time for which an unused sign-up link holds its seat. */
export const signUpLinkLifetime = Duration.days(7)
/**
 * The time that the link of an invitation works, and the number sent in a day: to one address, and of one organization.
 */
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
 * an admin at one address, for a browser that the admin has signed in with, for a key or connection that is asked for
 * the password again, and for all of the admin's console sessions together, those of browsers known for long apart.
 */
export const freePasswordFailures = 5
/** Failures of one address, for all admins together: people behind one address mistype too. */
export const freeAddressFailures = 20
/** Failures in a day of the IPv6 network of a customer, a /48, and loosely of that of a provider, a /32. */
export const freeNetworkFailures = 100
export const freeProviderFailures = 1000
/** Failures of one admin from all addresses and browsers that the admin has not signed in with. */
export const freeStrangersFailures = 100
/** Sign-ins of one address that a process checks at the same time, and those that wait for their turn. */
export const signInsAtOnce = 4
export const signInsWaiting = 64
/**
 * Console passwords that a process checks at the same time, and those of them that are of known browsers and live
 * credentials, or of all others: each have places that the others do not take.
 */
export const passwordsAtOnce = 8
export const passwordsOfLane = 6
export const maxPasswordWait = Duration.minutes(15)
/** Messages on each side of one that is asked for in its context, at most. */
export const maxNeighbours = 20
/** Wrong archive passwords in that time: of one credential, and of all of an organization's. */
export const archivePasswordPeriod = Duration.hours(1)
export const archivePasswordsOfCredential = 10
export const archivePasswordsOfAdmin = 10
export const archivePasswordsOfOrganization = 50
/** A credential that has opened the archive within it is limited by its own attempts alone. */
export const archiveOpenedLately = Duration.days(7)
/** Archive passwords that a process derives at the same time, of 128 MiB each, and those that wait for their turn. */
export const archiveUnlocksAtOnce = 2
export const archiveUnlocksWaiting = 16
/** Opened archive keys that a process keeps, the time that it keeps each, and the epoch keys of all of them. */
export const archiveSeedsKept = 1000
export const archiveSeedKept = Duration.minutes(5)
export const archiveEpochsKept = 20_000
/** Searches of an organization's archive that a process runs at a time. */
export const archiveSearchesAtOnce = 2
/** Matching revisions of one message that a search answers, the newest. */
export const searchRevisionsLimit = 20
/** Verifications of archives that a process runs at a time: of one organization, and in all. */
export const verificationsOfOrganization = 1
export const verificationsAtOnce = 3
/** Rules of the archive of an account, a department or the organization itself. */
export const rulesOfTarget = 1000
/** Parts of exports that a process makes at a time: of one organization, and in all. */
export const exportPartsOfOrganization = 2
export const exportPartsAtOnce = 4
/** While so many are made, an organization without any has one still, up to this number. */
export const exportPartsInAll = 16
/** A download checks so often that its caller may still read the content, and takes no longer than the second. */
export const contentLooked = Duration.seconds(5)
export const contentTime = Duration.hours(4)
/** A download goes on for so long while the database does not answer that check. */
export const contentUnsure = Duration.minutes(1)
/** The default number of runs over archives that a process makes at the same time. */
export const defaultArchiveRuns = 32
/** The default number of calls a second that read one account's chats. */
export const defaultArchiveRate = 1
/** The default number of days of archived messages that are compared again after changes were lost. */
export const defaultComparedDays = 30
/** Messages that disappear sooner may be gone before a nightly run has read them. */
export const safeExpiry = Duration.hours(48)
/** Parts of files, 1 MiB at most, that a process reads from the messenger in a second. */
export const mediaPartsPerSecond = 20
/** All accounts whose chats a process reads make together as many calls as so many do alone: they share its address. */
export const accountsAtOnce = 20
/**
 * Contents that are sent at a time: to one credential, by a process, and those of a process that are held in memory
 * because a message carries them whole; and the size of such a one.
 */
export const contentsOfCredential = 4
export const contentsAtOnce = 64
export const heldContentsAtOnce = 4
export const maxHeldContent = 8 * 1024 * 1024
/** Event streams of pages at a time, of one console session, of an organization and of a process, and the life of each. */
export const eventStreamsOfSession = 2
export const eventStreamsOfOrganization = 16
export const eventStreamsAtOnce = 64
export const eventStreamLife = Duration.minutes(5)
export const passwordFailuresForgotten = Duration.days(1)
/** The period in which wrong passwords of one admin are journaled once, after the first burst of them. */
export const passwordFailuresJournaled = Duration.hours(1)
/**
 * The time that the link of a password reset works, and the time until a mail with another one goes out: well before it
 * ends, so that the person who asked holds a link that works, even if others ask for the same admin.
 */
export const passwordResetLifetime = Duration.hours(1)
export const passwordResetPause = Duration.minutes(15)
/**
 * Mails with such links in a day that browsers ask for which the admin has not signed in with: of one admin, and of
 * all.
 */
export const passwordResetsPerAdmin = 10
export const passwordResetsPerOrganization = 100
/**
 * Requests for a link from one address that cost no wait, which are as many of its as wait to be handled, and the
 * number that wait from all addresses together.
 */
export const freeResetRequests = 20
export const resetRequestsWaiting = 1000
export const resetRequestsRetry = Duration.minutes(1)
/**
 * The time that a browser is known after its last sign-in, the number of one admin's, and the age from which it is
 * known for long.
 */
export const knownBrowserLifetime = Duration.days(180)
export const knownBrowsersKept = 20
export const browserKnownLong = Duration.days(1)
export const consoleSessionIdle = Duration.minutes(30)
export const consoleSessionLifetime = Duration.hours(12)
/**
 * The time that a sign-in waits for its second factor, and the number of answers it takes; the number of one admin's
 * that wait at the same time of one address or known browser, and of all addresses together.
 */
export const pendingSignInLifetime = Duration.minutes(15)
export const pendingSignInAnswers = 5
export const pendingSignInsKept = 5
export const strangersSignInsKept = 50
/** Wrong codes that cost nothing, as for passwords: of one admin, or in one known browser. */
export const freeCodeFailures = 5
/** The time that a session does not ask for the second factor again. */
export const factorRemembered = Duration.minutes(5)
/** Time steps of 30 seconds that the clock of an authenticator app may be off. */
export const totpWindow = 1
export const recoveryCodesMade = 10
export const passkeysKept = 10
export const maxPasskeyNameLength = 60
/** The time that a passkey may be waited for, and a new authenticator app be set up. */
export const passkeyAsked = Duration.minutes(5)
export const factorSetUp = Duration.minutes(15)
export const signOutLock = Duration.hours(24)
export const takeoverWindow = Duration.hours(48)
/** The default time that an admin has to approve a new session. */
export const defaultReviewWindow = Duration.hours(12)
/** The maximum age of a stranger's session: an hour before the platform would let it sign others out. */
export const strangersAge = Duration.hours(23)
/** Sessions that others end within this time of each other are a signal. */
export const endingsTogether = Duration.minutes(10)
/**
 * The time that an attempt to sign in is remembered, and a stranger counts against a session of the service that is
 * revoked.
 */
export const attemptsRemembered = Duration.hours(24)
/** Attempts that are remembered of one account. */
export const attemptsKept = 100
/** Codes that are sent within this time of each other are reported once. */
export const codesTogether = Duration.hours(1)
/** The period between readings of an account's sessions: usually, after many failures, and without a usable key. */
export const pollPeriod = Duration.seconds(60)
export const failingPollPeriod = Duration.minutes(5)
export const keylessPollPeriod = Duration.hours(1)
/** Failures in a row after which polls are rarer. */
export const manyFailures = 10
/** An account is unknown after so many failures in a row, or so long without a good poll. */
export const failuresUntilUnknown = 3
export const silenceUntilUnknown = Duration.minutes(10)
/**
 * So long no process may poll any account although one is due: longer than from one poll of an account to the next, so
 * that all of them are due by then, and so short that it is reported within three minutes.
 */
export const unpolledReported = Duration.seconds(90)
/** So long no poll may succeed before the service counts as degraded. */
export const unansweredReported = Duration.minutes(3)
/**
 * So many accounts of an organization that become unknown together are reported one by one, more of them in one report.
 */
export const lossesReportedAlone = 20
/** The messenger is away where so many polls of the last minute have failed, and more than half of them. */
export const awayFailures = 20
export const awayWindow = Duration.minutes(1)
/** It is back once so many polls in turn are good, each of an account that was not seen since it went away. */
export const awayRun = 6
/** It is back, too, once at least half of the accounts that were polled for so long were seen. */
export const awayProven = Duration.minutes(10)
/**
 * So long after the messenger went away every organization is notified, whatever polls were made: before any is silent.
 */
export const awayReported = Duration.minutes(5)
/** Over so long the polls of accounts that were not seen are spread once the messenger is back. */
export const awayReturn = Duration.seconds(30)
/** The period between readings of security settings and profile. */
export const lookPeriod = Duration.minutes(10)
/** A wait that the platform demands is a failure when it is longer. */
export const longestQuietFlood = Duration.minutes(10)
/** The time for which a session that an admin signed out answers the same again. */
export const rejectionRemembered = Duration.hours(24)
/** The time that one request keeps signing sessions out; the rest is left to the engine. */
export const longestSignOut = Duration.seconds(12)
/**
 * The time after it began when a request turns to an older session: one more call fits in, and it ends within 30
 * seconds.
 */
export const longestBeforeOlderSession = Duration.seconds(20)
/** The wait of a sign-out that the platform refused without saying until when. */
export const signOutRetry = Duration.minutes(15)
/** The time that an archive without its plan stays readable, and then closed, before it is deleted. */
export const archiveReadonlyPeriod = Duration.days(30)
export const archiveClosedPeriod = Duration.days(60)
/** A failed archive run whose retry is due within this time does not show as an error. */
export const archiveRetryGrace = Duration.hours(1)

/** The default start of API keys, before `_live_`. */
export const defaultKeyPrefix = "osc"

/** Open connections of clients that a process holds at most, by default. */
export const defaultMaxClients = 2000
/** So many connections an address may always open. */
export const fewClients = 64

/** The longest that the client of an answer may take nothing of it, and that it may take for each part of it. */
export const answerStallTime = Duration.seconds(15)
export const answerTime = Duration.minutes(2)
/** The bytes of such a part. */
export const answerProgress = 1024 * 1024

/** The time that an Idempotency-Key is kept, and that the request that it was first sent with may hold it. */
export const idempotencyKept = Duration.hours(24)
export const idempotencyClaim = Duration.seconds(60)

/** The time to wait for one answer of the messenger. */
export const messengerTimeout = Duration.seconds(8)

/** The time that a hold on an account lasts, the period of its renewal, and the time that others wait for it. */
export const guardHeld = Duration.seconds(20)
export const guardRenewed = Duration.seconds(5)
export const guardWait = Duration.seconds(8)

/** The default number of sessions on the messenger that a process keeps open. */
export const defaultMaxLive = 3000

/** Requests to the support that an admin may make in 24 hours, and when an answered one closes by itself. */
export const supportRequestsPerDay = 20
export const supportClosedAfter = Duration.days(30)
export const maxSupportSubjectLength = 150
export const maxSupportMessageLength = 5000

/**
 * The time that a mail is tried, the time that an abandoned one counts, and the number of batches of mails that a run
 * sends.
 */
export const mailTried = Duration.hours(24)
export const mailFailureShown = Duration.hours(24)
export const mailBatches = 20

/** The period between counts of the accounts of each status, and the time that they are kept. */
export const statusSamplePeriod = Duration.minutes(10)
export const statusSamplesKept = Duration.days(30)

/** The time until the first stranger signs in to an account of the simulated platform. */
export const firstStranger = { from: Duration.seconds(20), to: Duration.seconds(50) }

/** The number of characters of a 2FA password that the service makes. */
export const generatedPasswordLength = 20

/**
 * The time that a secret is kept that the messenger takes no longer, and the number of 2FA passwords of an account that
 * are tried.
 */
export const retiredKept = Duration.days(7)
export const candidatesTried = 5
/** The time that the code of an e-mail address works, and the number of wrong ones that may be entered. */
export const emailCodeLifetime = Duration.minutes(15)
export const emailCodeAttempts = 5
/** Changes of an account's e-mail addresses in an hour, and wrong 2FA passwords of its holder. */
export const emailChangesPerHour = 5
export const wrongHolderPasswordsPerHour = 5
/** The time that a login lasts after its last step, and that one step may hold it or be waited for. */
export const loginLifetime = Duration.minutes(10)
export const loginHeld = Duration.seconds(30)
export const loginWait = Duration.seconds(4)
/** Wrong entries that a login accepts, and codes that may be requested again. */
export const loginAttempts = 5
export const loginResends = 3
/** Logins that an organization may start in an hour by default, and in a day with one number or an account's own. */
export const defaultLoginStarts = 10
export const loginsPerNumber = 3
export const reloginsPerNumber = 10
/** The time for which leftovers of a login on the messenger are taken back, and for which an ended one is kept. */
export const loginLeftTried = Duration.hours(24)
export const loginKept = Duration.days(30)
export const minCodeLength = 3
export const maxCodeLength = 12
export const maxHolderPasswordLength = 128
/** An account that was polled within this time has a live session. */
export const watchedLately = Duration.minutes(2)

/** The longest time for a sign-in at an identity provider. */
export const providerSignInLifetime = Duration.minutes(10)
/** Limits of one answer of a provider: its time, its size, and the number that are waited for at the same time. */
export const providerDeadline = Duration.seconds(5)
export const providerAnswerSize = 65_536
export const providerAsked = 16
/** The difference allowed between the clocks of a provider and of the service. */
export const providerTolerance = Duration.seconds(30)
/**
 * The time that a provider's documents are kept, the time that it is not asked again after it failed, and the number of
 * providers that are kept.
 */
export const providerKept = Duration.minutes(5)
export const providerFailureKept = Duration.seconds(15)
export const providersRemembered = 200
/** The longest address that a sign-in by a provider leads back to: it travels in a cookie. */
export const maxProviderReturn = 1500
/**
 * The time after the end of its licence when an organization is suspended, and that an account without one is kept
 * connected.
 */
export const licenceEndKept = Duration.days(30)
/** The time that the 2FA password of an offboarded account is kept where it could not be removed. */
export const unrevealedKept = Duration.days(90)
/** The time before its end when a secret that has not been revealed is reported to those who can reveal it. */
export const unrevealedTold = Duration.days(14)
/** The time for which a failed logout of the service's session is tried again; then its key is erased. */
export const retiredSessionKept = Duration.days(30)
/** Times of edits that are known of a message at most, the oldest. */
export const editDatesPerMessage = 1000
/** Sealed bytes of one answer, beyond its first item, and the pages or vocabularies that it has at most. */
export const sealedBytesPerAnswer = 4 * 1024 * 1024
export const sealedRowsPerAnswer = 64
export const sealedBlocksPerAnswer = 256
/** Accounts whose pages one request names, the pages that it names or lists at most, and an account's in base64. */
export const sealedBlocksNamed = 64
export const sealedPagesListed = 512
export const sealedNumbersLength = 4096
