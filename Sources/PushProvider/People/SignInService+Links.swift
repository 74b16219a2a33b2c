import Foundation
package import PushStore
package import PushSupport
import PushTypes

/// The links with which people choose their passwords, and changes of passwords.
extension SignInService {
    /// Redeems a link: sets the password, ends all earlier sessions of the person, and signs the person in.
    ///
    /// - Parameters:
    ///   - name: The name of the first admin; ignored for a link of a person who has a name.
    ///   - old: The session that the browser had before, which ends.
    /// - Throws: ``RequestError`` for a link that is unknown, was redeemed or has expired, and for a name or a password
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
        let signIn = self.record(.person(person.id), token, NetworkAddress(address), agent)
        let hash = SessionToken.hash(link)
        guard let redeemed = try await self.store.redeem(link: hash, for: person, password: stored, signIn) else {
            throw Self.noLink
        }
        let session = StoredSession(record: signIn.session, holder: .person(redeemed))
        return try await self.begin(session, token, replacing: old, "redeem a link")
    }

    /// Returns the link with a text; `nil` for one that is unknown, was redeemed or has expired.
    package func link(_ text: String) async throws -> ValidLink? {
        guard SessionToken.isToken(text) else { return nil }
        return try await self.store.link(hash: SessionToken.hash(text), now: self.time.steady)
    }

    /// Changes the password of a person: all sessions end.
    ///
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

    /// The error of a link that is unknown, was redeemed or has expired.
    package static let noLink = RequestError(
        .notFound,
        code: "no_such_link",
        message: "this link was used already or has expired: ask an administrator for another",
        path: "link"
    )

    /// Returns the person whose link it is, or whom it makes.
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
    /// The error of what only a person can do, and an API key has tried.
    package static var notAPerson: RequestError {
        RequestError(.conflict, code: "not_a_person", message: "this is for people: an API key has none of it")
    }
}
