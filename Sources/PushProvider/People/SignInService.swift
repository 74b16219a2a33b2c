import Foundation
package import Logging
package import ProviderModel
package import PushStore
package import PushSupport
import PushTypes

/// Signs users in and out, and recognizes their sessions.
///
/// Errors do not reveal whether a name exists, and attempts with known and unknown names take the same time.
package struct SignInService: Sendable {
    private let store: any PersonStore & SessionStore
    private let keys: APIKeys
    private let hasher: PasswordHasher
    private let locks = SignInLockTable()
    private let settings: SessionSettings
    private let time: any TimeSource
    private let log: RateLimitedLog
    private let audit: @Sendable (String, APICaller) async -> Void

    /// Creates the service. `audit` writes an audit entry, and merges equal ones within a minute.
    package init(
        store: any PersonStore & SessionStore,
        keys: APIKeys,
        hasher: PasswordHasher,
        settings: SessionSettings = SessionSettings(),
        lines: Budget,
        time: any TimeSource,
        logger: Logger,
        audit: @escaping @Sendable (String, APICaller) async -> Void
    ) {
        (self.store, self.keys, self.hasher, self.audit) = (store, keys, hasher, audit)
        (self.settings, self.time, self.log) = (settings, time, RateLimitedLog(logger, lines))
    }

    /// Signs a user in with a password.
    /// - Parameters:
    ///   - address: The IP address of the browser.
    ///   - agent: The `user-agent` of the browser, of which the beginning is stored.
    ///   - old: The earlier session of the browser, which is ended.
    /// - Throws: The same ``RequestError`` for an unknown name, a wrong password and a disabled user;
    ///   ``RetryLaterError`` (429) after too many failures.
    package func signIn(
        name: String,
        password: String,
        address: String,
        agent: String,
        replacing old: Session? = nil
    ) async throws -> SessionGrant {
        guard name.utf8.count <= PersonRecord.maximumName, password.utf8.count <= PasswordPolicy.maximumBytes,
            !name.isEmpty, !password.isEmpty, !name.utf8.contains(0)
        else { throw Self.wrong }
        let network = SignInNetwork(address)
        // An attempt that is refused because too many requests wait is not counted.
        let (candidate, subject, verdict) = try await self.hasher.admitted(try await self.caller(at: network)) {
            place in
            let candidate = try await self.store.signInCandidate(name: name, network: network.bytes)
            let subject = try await self.admit(name, candidate, network, address)
            return (candidate, subject, try await place.check(password, candidate?.password))
        }
        guard let candidate, let stored = candidate.password, verdict != .wrong else {
            self.log.log(.warning, "sign-in failed", ["address": "\(address)"])
            throw Self.wrong
        }
        var renewed: String?
        if case .outdated(let text) = verdict { renewed = text }
        let token = SessionToken.make()
        let signIn = self.record(.person(candidate.person.id), token, network, agent)
        guard try await self.store.signIn(signIn, candidate.person, password: stored, renewed: renewed) else {
            throw Self.wrong
        }
        self.locks.succeeded(subject)
        return try await self.begin(
            StoredSession(record: signIn.session, holder: .person(candidate.person)),
            token,
            replacing: old,
            "sign in with a password"
        )
    }

    /// Signs in the holder of an API key, with the scopes and apps of the key.
    /// - Parameters:
    ///   - wrong: The budget of wrong secrets.
    ///   - client: The caller to which a wrong key is charged, identified by the browser's network.
    /// - Throws: ``RequestError`` for a key that is unknown, has expired or is public; `BudgetRefusal` for a client
    ///   that has sent too many wrong keys.
    package func signIn(
        key text: String,
        wrong: Budget,
        of client: BudgetCaller,
        address: String,
        agent: String,
        replacing old: Session? = nil
    ) async throws -> SessionGrant {
        guard let key = try await self.keys.check(text, wrong: wrong, of: client) else {
            self.log.log(.warning, "sign-in failed", ["address": "\(address)"])
            let message = "this is no valid API key"
            throw RequestError(.unauthenticated, code: "wrong_credentials", message: message, path: "key")
        }
        guard !key.isPublic else {
            let message = "a public key registers devices, and nothing else"
            throw RequestError(.forbidden, code: "missing_scope", message: message, path: "key")
        }
        let token = SessionToken.make()
        let signIn = self.record(.key(key.id), token, SignInNetwork(address), agent)
        guard try await self.store.signIn(signIn, key: key.id) else { throw Self.wrong }
        let stored = StoredSession(record: signIn.session, holder: .key(key))
        return try await self.begin(stored, token, replacing: old, "sign in with an API key")
    }

    /// Returns the session with a token. If `isUse` is `true`, its use is recorded, which extends the session.
    /// - Returns: The session, or `nil` for a token that is unknown or has expired, a disabled user or an expired key.
    package func session(token: String, isUse: Bool = true) async throws -> Session? {
        guard SessionToken.isToken(token),
            let stored = try await self.store.session(hash: SessionToken.hash(token))
        else { return nil }
        let (now, record) = (self.time.steady, stored.record)
        guard now < record.expiresAt, now.since(record.lastUsedAt) < self.settings.idle else { return nil }
        switch stored.holder {
        case .person(let person): guard !person.isDisabled else { return nil }
        case .key(let key): if let end = key.expiresAt, self.time.now >= end { return nil }
        }
        if isUse, now.since(record.lastUsedAt) >= self.settings.useInterval { await self.noteUse(of: record.id, now) }
        return Session(stored, token: token)
    }

    package func signOut(_ session: Session) async throws {
        _ = try await self.store.endSession(session.id, of: session.holder)
    }
}

// MARK: Steps

extension SignInService {
    /// The error for every failed sign-in with a name.
    static let wrong = RequestError(
        .unauthenticated,
        code: "wrong_credentials",
        message: "the name or the password is wrong",
        path: "password"
    )

    /// Returns the caller to which hashing is charged. It depends on the network only, to reveal nothing about names.
    private func caller(at network: SignInNetwork) async throws -> PasswordHasher.Caller {
        try await self.store.isKnownNetwork(network.bytes)
            ? .known(.network(network.bytes)) : .stranger(.network(network.site))
    }

    /// Counts an attempt to sign in with a name, before the password is checked.
    ///
    /// At a network from which the user has signed in, only the failures of this user at this network count, so that a
    /// user cannot be locked out from elsewhere.
    /// - Returns: The subject of the in-memory lock that has counted the attempt.
    /// - Throws: ``RetryLaterError`` after too many failures.
    private func admit(
        _ name: String,
        _ candidate: SignInCandidate?,
        _ network: SignInNetwork,
        _ address: String
    ) async throws -> SignInLockTable.Subject {
        let now = self.time.steady
        if let candidate, candidate.isKnownNetwork {
            let subject = SignInLockTable.Subject.known(candidate.person.id, network)
            try self.proceed(self.locks.attempt(subject, now: now), address)
            return subject
        }
        try self.proceed(self.locks.attempt(.network(site: network.site), now: now), address)
        try self.proceed(await self.store.changeSignInLock(of: name, now: now) { $0.attempt(now: now, .name) }, address)
        return .network(site: network.site)
    }

    /// Throws ``RetryLaterError`` for an attempt that has to wait. `address` is that of the browser, for the log, or
    /// `nil` for a change of a password.
    private func proceed(_ decision: SignInLock.Decision, _ address: String? = nil) throws {
        guard case .wait(let delay) = decision else { return }
        self.log.log(
            .warning,
            "sign-in refused after failures",
            ["seconds": "\(delay.components.seconds + 1)", "address": "\(address ?? "-")"]
        )
        let minutes = max(1, (delay.components.seconds + 59) / 60)
        let message = "too many failed attempts: try again in \(minutes == 1 ? "a minute" : "\(minutes) minutes")"
        throw RetryLaterError(RequestError(.rateLimited, code: "too_many_sign_ins", message: message), after: delay)
    }

    private func record(_ holder: SessionHolder, _ token: String, _ network: SignInNetwork, _ agent: String)
        -> SignInRecord
    {
        let now = self.time.steady
        let session = SessionRecord(
            holder: holder,
            createdAt: now,
            expiresAt: now.advanced(by: self.settings.longest),
            agent: Self.agent(agent)
        )
        return SignInRecord(
            session: session,
            hash: SessionToken.hash(token),
            network: network.bytes,
            now: self.time.now,
            idle: self.settings.idle
        )
    }

    /// Ends the earlier session of the browser, and writes the audit entry for the new session.
    private func begin(
        _ stored: StoredSession,
        _ token: String,
        replacing old: Session?,
        _ action: String
    ) async throws -> SessionGrant {
        if let old { try await self.signOut(old) }
        let session = Session(stored, token: token)
        await self.audit(action, session.caller)
        return SessionGrant(token: token, session: session)
    }

    /// Writes the time of a session's last use. An error is only logged.
    private func noteUse(of session: UUID, _ now: Timestamp) async {
        do {
            try await self.store.setLastUse(of: session, now, now: self.time.now)
        } catch {
            self.log.log(.warning, "last use of a session could not be written", ["error": "\(error)"])
        }
    }

    /// Returns the beginning of a `user-agent`, without characters other than printable ASCII.
    private static func agent(_ text: String) -> String {
        let printable = text.utf8.prefix(SessionRecord.maximumAgent).filter { (0x20..<0x7f).contains($0) }
        return String(decoding: printable, as: UTF8.self)
    }
}

/// Redeems links with which users choose their passwords, and changes passwords.
extension SignInService {
    /// Redeems a link: sets the password, ends all earlier sessions of the user, and signs the user in.
    /// - Parameters:
    ///   - name: The name of the first admin. It is ignored for a link of a user who has a name.
    ///   - old: The earlier session of the browser, which is ended.
    /// - Throws: ``RequestError`` for a link that is unknown, was redeemed or has expired, and for a name or password
    ///   that breaks a rule.
    package func redeem(
        link: String,
        name: String?,
        password: String,
        address: String,
        agent: String,
        replacing old: Session? = nil
    ) async throws -> SessionGrant {
        guard let valid = try await self.link(link) else { throw Self.noLink }
        let person = try self.person(of: valid, name: name)
        try PasswordPolicy.check(password, name: person.name)
        let caller = PasswordHasher.Caller.known(.principal(person.id))
        let stored = try await self.hasher.hash(password, for: caller)
        let token = SessionToken.make()
        let signIn = self.record(.person(person.id), token, SignInNetwork(address), agent)
        let hash = SessionToken.hash(link)
        guard let redeemed = try await self.store.redeem(link: hash, for: person, password: stored, signIn) else {
            throw Self.noLink
        }
        let session = StoredSession(record: signIn.session, holder: .person(redeemed))
        return try await self.begin(session, token, replacing: old, "redeem a link")
    }

    /// Returns the link with this text, or `nil` if it is unknown, was redeemed or has expired.
    package func link(_ text: String) async throws -> ValidLink? {
        guard SessionToken.isToken(text) else { return nil }
        return try await self.store.link(hash: SessionToken.hash(text), now: self.time.steady)
    }

    /// Changes the password of a user, and ends all sessions of the user.
    /// - Throws: ``RequestError`` for a wrong current password, and for a new one that breaks a rule;
    ///   ``RetryLaterError`` after too many failures.
    package func changePassword(of caller: APICaller, from current: String, to new: String) async throws {
        guard caller.isPerson else { throw RequestError.notAPerson }
        try PasswordPolicy.check(new, name: caller.name)
        let subject = SignInLockTable.Subject.password(caller.id)
        let hashing = PasswordHasher.Caller.known(.principal(caller.id))
        let stored = try await self.hasher.admitted(hashing) { place in
            try self.proceed(self.locks.attempt(subject, now: self.time.steady))
            let stored = try await self.store.password(of: caller.id)
            guard !current.isEmpty, current.utf8.count <= PasswordPolicy.maximumBytes, let stored,
                try await place.check(current, stored) != .wrong
            else {
                let message = "this is not the current password"
                throw RequestError(.forbidden, code: "wrong_password", message: message, path: "current")
            }
            return stored
        }
        let text = try await self.hasher.hash(new, for: hashing)
        guard try await self.store.setPassword(text, of: caller.id, replacing: stored) else {
            throw RequestError(
                .conflict,
                code: "changed_meanwhile",
                message: "the password was changed elsewhere at the same time",
                path: "current"
            )
        }
        self.locks.succeeded(subject)
    }

    /// The error for a link that is unknown, was redeemed or has expired.
    package static let noLink = RequestError(
        .notFound,
        code: "no_such_link",
        message: "this link was used already or has expired: ask an administrator for another",
        path: "link"
    )

    /// Returns the account of a link, or a new record of the first admin, whom redeeming the link creates.
    private func person(of link: ValidLink, name: String?) throws -> PersonRecord {
        switch link {
        case .person(let person): return person
        case .firstAdmin:
            let name = try PersonName.check(name ?? "")
            return PersonRecord(name: name, role: .admin, hasPassword: true, createdAt: self.time.now)
        }
    }
}

extension RequestError {
    /// The error for an operation that an API key has attempted and that requires a signed-in user.
    package static var notAPerson: RequestError {
        RequestError(.conflict, code: "not_a_person", message: "this is for people: an API key has none of it")
    }
}
