package import Foundation
package import PushTypes

/// API keys, found by the SHA-256 of the key.
package protocol APIKeyStore: Sendable {
    /// Adds a key. Only its hash is stored.
    /// - Throws: ``StoreError/noSuchApp(_:)`` for a key that is limited to an app that does not exist: it would come alive
    ///   with the next app of that name.
    func addKey(_ key: APIKeyRecord, hash: [UInt8]) async throws
    /// Returns the key with this hash; `nil` if there is none.
    func key(hash: [UInt8]) async throws -> APIKeyRecord?
    /// Returns the hashes of keys.
    func keyHashes(limit: Int) async throws -> [[UInt8]]
    /// Returns all keys, the oldest first.
    func keys() async throws -> [APIKeyRecord]
    /// Changes the name, the scopes, the apps, the expiry or the rate of a key, and nothing else of it.
    ///
    /// The only ``APIKeyRecord/isLastingAdmin`` key stays one: of two changes at the same time one is refused.
    /// - Throws: ``StoreError/noSuchApp(_:)`` as ``addKey(_:hash:)`` does, for an app that the key was not limited to.
    func changeKey(_ id: UUID, _ change: @Sendable (inout APIKeyRecord) -> Void) async throws -> KeyChangeResult
    /// Deletes a key unless it is the only ``APIKeyRecord/isLastingAdmin`` one: of two that delete each other one stays.
    func deleteKey(_ id: UUID) async throws -> KeyDeletionResult
    /// Writes the times of keys' last requests, in one transaction. Earlier times than the stored ones change nothing.
    func setLastUses(_ uses: [UUID: Timestamp]) async throws
}

/// The secrets by which registrations with a public key are trusted.
package protocol UserSecretStore: Sendable {
    /// Adds a secret to an app, unless it has `limit` of them.
    /// - Returns: `false` if it has.
    func addUserSecret(_ secret: UserSecretRecord, app: Int64, limit: Int) async throws -> Bool
    /// Returns the secrets of an app, the oldest first.
    func userSecrets(app: Int64) async throws -> [UserSecretRecord]
    /// Removes a secret; what was signed with it is worth nothing from now on.
    /// - Returns: `false` if the app has none with this id.
    func deleteUserSecret(_ id: UUID, app: Int64) async throws -> Bool
    /// Returns the secret of an installation, which only the first response to it shows. It is derived from the master
    /// key, and stored nowhere.
    func installationSecret(_ installation: String, of app: Topic) -> String
}

/// The people who can sign in, and the links with which they choose their passwords.
package protocol PersonStore: Sendable {
    /// The secret with which stored passwords are keyed. It is derived from the master key, and stored nowhere.
    var passwordSecret: String { get }
    /// Adds a person with a link.
    /// - Returns: The person with its number; `nil` if another one has the name.
    /// - Throws: ``StoreError/noSuchApp(_:)`` for a person who is limited to an app that does not exist.
    func addPerson(_ person: PersonRecord, link: LinkRecord) async throws -> PersonRecord?
    func person(_ id: UUID) async throws -> PersonRecord?
    /// Returns people in the order in which they were added, beginning after `after`.
    func people(after: Int64?, limit: Int) async throws -> [PersonRecord]
    /// Changes the name, the role, the apps, the language of a person, or whether the person is disabled.
    ///
    /// The sessions and links of a person end with a change of the role, of the apps, or with being disabled. The only
    /// ``PersonRecord/isLastingAdmin`` person stays one: of two changes at the same time one is refused.
    /// - Throws: ``StoreError/noSuchApp(_:)`` for an app that the person was not limited to and that does not exist.
    func changePerson(_ id: UUID, _ change: @Sendable (inout PersonRecord) -> Void) async throws -> PersonChangeResult
    /// Deletes a person with the sessions and links, unless it is the only ``PersonRecord/isLastingAdmin`` one.
    func deletePerson(_ id: UUID) async throws -> PersonDeletionResult
    /// Replaces the password of a person, and ends all sessions and links of the person.
    /// - Parameter old: The stored password that was checked.
    /// - Returns: `false` if the stored password is another one by now, or the person is disabled.
    func setPassword(_ new: String, of person: UUID, replacing old: String) async throws -> Bool
    /// Returns the stored password of a person who is not disabled.
    func password(of person: UUID) async throws -> String?

    /// Stores a link in place of the earlier one of the same person, or of the first one.
    /// - Returns: `false` if there is no such person, the person is disabled, or the link would make the first person
    ///   while there is one.
    func setLink(_ link: LinkRecord) async throws -> Bool
    /// Returns the link with this hash; `nil` if there is none that can be redeemed.
    /// - Parameter now: By the steady clock.
    func link(hash: [UInt8], now: Timestamp) async throws -> ValidLink?
    /// Redeems a link: it ends, the person gets the password, all earlier sessions of the person end, and a session
    /// begins. Of two at the same time one is refused.
    /// - Parameters:
    ///   - link: The hash of the link.
    ///   - person: The person whom the link makes, or whose link it is, with its id.
    ///   - password: The password to store.
    /// - Returns: `nil` if the link cannot be redeemed any more.
    func redeem(
        link: [UInt8],
        for person: PersonRecord,
        password: String,
        _ signIn: SignInRecord
    ) async throws -> PersonRecord?
}

/// The sessions of people and of API keys in browsers, and the locks after failed attempts to sign in.
package protocol SessionStore: Sendable {
    /// Returns the person with a name, and what an attempt to sign in needs; `nil` if there is none.
    /// - Parameter network: The network from which the attempt comes.
    func signInCandidate(name: String, network: [UInt8]) async throws -> SignInCandidate?
    /// Returns `true` for a network from which any person has signed in.
    func isKnownNetwork(_ network: [UInt8]) async throws -> Bool
    /// Changes the lock of a name, whether a person has it or not, in one transaction.
    ///
    /// The store keeps a code of the name and not the name: people type passwords into the wrong field.
    /// - Parameter now: By the steady clock.
    func changeSignInLock<Value: Sendable>(
        of name: String,
        now: Timestamp,
        _ change: @Sendable (inout SignInLock) -> Value
    ) async throws -> Value
    /// Begins a session of a person, forgets the lock of the person's name, and remembers the network.
    /// - Parameters:
    ///   - person: The person as it was when the password was checked.
    ///   - password: The stored password that was checked.
    ///   - renewed: The password in a newer form, to be stored in its place; `nil` for none.
    /// - Returns: `false` if the stored password is another one by now, or the person is gone or disabled.
    func signIn(_ signIn: SignInRecord, _ person: PersonRecord, password: String, renewed: String?) async throws -> Bool
    /// Begins a session with an API key.
    /// - Returns: `false` if the key is gone.
    func signIn(_ signIn: SignInRecord, key: UUID) async throws -> Bool
    /// Returns the session whose token has this hash, with its holder as stored now; `nil` if there is none.
    func session(hash: [UInt8]) async throws -> StoredSession?
    /// Writes the last use of a session.
    /// - Parameters:
    ///   - used: By the steady clock.
    ///   - now: By the wall clock, for the person.
    func setLastUse(of session: UUID, _ used: Timestamp, now: Timestamp) async throws
    /// Returns the sessions of a holder, the newest first.
    func sessions(of holder: SessionHolder) async throws -> [SessionRecord]
    /// Ends a session.
    /// - Returns: `false` if the holder has none with this id.
    func endSession(_ id: UUID, of holder: SessionHolder) async throws -> Bool
    /// Ends all sessions of a holder.
    /// - Returns: Their number.
    @discardableResult
    func endSessions(of holder: SessionHolder) async throws -> Int
}

/// The record of changes by API key.
package protocol AuditStore: Sendable {
    /// Adds an entry.
    /// - Returns: Its id.
    @discardableResult
    func addAudit(_ entry: AuditRecord) async throws -> Int64
    /// Sets the number of requests that an entry stands for.
    func setAuditCount(_ count: Int, of id: Int64) async throws
    /// Returns a page of the entries that a filter leaves, the newest first, beginning before `before`.
    func audit(_ filter: AuditFilter, before: Int64?, limit: Int) async throws -> ListPage<AuditRecord>
}
