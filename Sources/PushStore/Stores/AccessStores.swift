package import Foundation
package import ProviderModel
package import PushTypes

/// API keys, found by the SHA-256 of the key.
package protocol APIKeyStore: Sendable {
    /// Adds a key. Only its hash is stored.
    /// - Throws: ``StoreError/noSuchApp(_:)`` for a key that is limited to an app that does not exist: it would become valid
    ///   with a later app of that name.
    func addKey(_ key: APIKeyRecord, hash: [UInt8]) async throws
    /// Returns the key with this hash; `nil` if there is none.
    func key(hash: [UInt8]) async throws -> APIKeyRecord?
    /// Returns the hashes of keys.
    func keyHashes(limit: Int) async throws -> [[UInt8]]
    /// Returns all keys, oldest first.
    func keys() async throws -> [APIKeyRecord]
    /// Changes the name, the scopes, the apps, the expiry or the rate of a key.
    ///
    /// The last lasting admin key (``APIKeyRecord/isLastingAdmin``) must stay one. Of two concurrent changes that would
    /// break this, one is refused.
    /// - Throws: ``StoreError/noSuchApp(_:)`` for an app to which the key was not limited before, as ``addKey(_:hash:)``.
    func changeKey(_ id: UUID, _ change: @Sendable (inout APIKeyRecord) -> Void) async throws -> KeyChangeResult
    /// Deletes a key unless it is the last lasting admin key (``APIKeyRecord/isLastingAdmin``). Of two keys that delete
    /// each other one stays.
    func deleteKey(_ id: UUID) async throws -> KeyDeletionResult
    /// Writes the times of keys' last requests in one transaction. Times that are earlier than the stored ones are ignored.
    func setLastUses(_ uses: [UUID: Timestamp]) async throws
}

/// The secrets of apps that sign user proofs, which registrations with a public key need.
package protocol UserSecretStore: Sendable {
    /// Adds a secret to an app, unless it has `limit` of them.
    /// - Returns: `false` if the app has that many.
    func addUserSecret(_ secret: UserSecretRecord, app: Int64, limit: Int) async throws -> Bool
    /// Returns the secrets of an app, the oldest first.
    func userSecrets(app: Int64) async throws -> [UserSecretRecord]
    /// Removes a secret. User proofs that were signed with it are invalid from then on.
    /// - Returns: `false` if the app has no secret with this id.
    func deleteUserSecret(_ id: UUID, app: Int64) async throws -> Bool
    /// Returns the secret of an installation, which only its first response contains. It is derived from the master key, and
    /// is not stored.
    func installationSecret(_ installation: String, of app: Topic) -> String
}

/// The people who can sign in, and the links with which they choose their passwords.
package protocol PersonStore: Sendable {
    /// The key with which passwords are hashed. It is derived from the master key, and is not stored.
    var passwordSecret: String { get }
    /// Adds a person with a link.
    /// - Returns: The person with the assigned number; `nil` if another person has the name.
    /// - Throws: ``StoreError/noSuchApp(_:)`` for a person who is limited to an app that does not exist.
    func addPerson(_ person: PersonRecord, link: LinkRecord) async throws -> PersonRecord?
    func person(_ id: UUID) async throws -> PersonRecord?
    /// Returns people in the order in which they were added, beginning after `after`.
    func people(after: Int64?, limit: Int) async throws -> [PersonRecord]
    /// Changes the name, the role, the apps or the language of a person, or disables or enables the person.
    ///
    /// The sessions and links of a person end if the role or the apps change, or if the person is disabled. The last
    /// lasting admin (``PersonRecord/isLastingAdmin``) must stay one. Of two concurrent changes that would break this,
    /// one is refused.
    /// - Throws: ``StoreError/noSuchApp(_:)`` for an app that does not exist, and to which the person was not limited before.
    func changePerson(_ id: UUID, _ change: @Sendable (inout PersonRecord) -> Void) async throws -> PersonChangeResult
    /// Deletes a person with all sessions and links, unless it is the last lasting admin
    /// (``PersonRecord/isLastingAdmin``).
    func deletePerson(_ id: UUID) async throws -> PersonDeletionResult
    /// Replaces the password of a person, and ends all sessions and links of the person.
    /// - Parameter old: The stored password that was checked.
    /// - Returns: `false` if the stored password has changed since, or the person is disabled.
    func setPassword(_ new: String, of person: UUID, replacing old: String) async throws -> Bool
    /// Returns the stored password of a person who is not disabled.
    func password(of person: UUID) async throws -> String?

    /// Stores a link that replaces the earlier one for the same person or, without a person, for the first person.
    /// - Returns: `false` if there is no such person, if the person is disabled, or if the link is for the first
    ///   person and there is a person already.
    func setLink(_ link: LinkRecord) async throws -> Bool
    /// Returns the link with this hash; `nil` if there is none that can be redeemed.
    /// - Parameter now: The current time by the steady clock, which decides whether the link has expired.
    func link(hash: [UInt8], now: Timestamp) async throws -> ValidLink?
    /// Redeems a link: the link becomes invalid, the person gets the password, all earlier sessions of the person end, and a
    /// session begins. Of two concurrent calls one is refused.
    /// - Parameters:
    ///   - link: The hash of the link.
    ///   - person: The person of the link, or the person that the link creates, with its id.
    ///   - password: The password to store.
    /// - Returns: `nil` if the link cannot be redeemed any more.
    func redeem(
        link: [UInt8],
        for person: PersonRecord,
        password: String,
        _ signIn: SignInRecord
    ) async throws -> PersonRecord?
}

/// The sessions of browsers, and the locks after failed attempts to sign in.
package protocol SessionStore: Sendable {
    /// Returns the person with a name, and the facts that an attempt to sign in depends on; `nil` if there is none.
    /// - Parameter network: The network of the client that attempts to sign in.
    func signInCandidate(name: String, network: [UInt8]) async throws -> SignInCandidate?
    /// Returns `true` if any person has signed in from a network.
    func isKnownNetwork(_ network: [UInt8]) async throws -> Bool
    /// Changes the lock of a name, whether a person has it or not, in one transaction.
    ///
    /// The store keeps a keyed hash of the name, because people sometimes type a password into the wrong field.
    /// - Parameter now: The current time by the steady clock.
    func changeSignInLock<Value: Sendable>(
        of name: String,
        now: Timestamp,
        _ change: @Sendable (inout SignInLock) -> Value
    ) async throws -> Value
    /// Begins a session of a person, removes the lock of the person's name, and remembers the network.
    /// - Parameters:
    ///   - person: The person as it was when the password was checked.
    ///   - password: The stored password that was checked.
    ///   - renewed: The password hashed in a newer form, to be stored in place of ``password``; `nil` to keep that.
    /// - Returns: `false` if the stored password has changed since, or the person was deleted or disabled.
    func signIn(_ signIn: SignInRecord, _ person: PersonRecord, password: String, renewed: String?) async throws -> Bool
    /// Begins a session with an API key.
    /// - Returns: `false` if the key does not exist any more.
    func signIn(_ signIn: SignInRecord, key: UUID) async throws -> Bool
    /// Returns the session whose token has this hash, with the current record of its holder; `nil` if there is none.
    func session(hash: [UInt8]) async throws -> StoredSession?
    /// Records the latest use of a session.
    /// - Parameters:
    ///   - used: The time of the use by the steady clock, which decides on expiry.
    ///   - now: The time of the use by the wall clock, at which the person was last seen.
    func setLastUse(of session: UUID, _ used: Timestamp, now: Timestamp) async throws
    /// Returns the sessions of a holder, the newest first.
    func sessions(of holder: SessionHolder) async throws -> [SessionRecord]
    /// Ends a session.
    /// - Returns: `false` if the holder has no session with this id.
    func endSession(_ id: UUID, of holder: SessionHolder) async throws -> Bool
    /// Ends all sessions of a holder.
    /// - Returns: The number of ended sessions.
    @discardableResult
    func endSessions(of holder: SessionHolder) async throws -> Int
}

/// The audit: the record of changes by API keys and people.
package protocol AuditStore: Sendable {
    /// Adds an entry.
    /// - Returns: The id of the entry.
    @discardableResult
    func addAudit(_ entry: AuditRecord) async throws -> Int64
    /// Sets the number of requests that an entry stands for.
    func setAuditCount(_ count: Int, of id: Int64) async throws
    /// Returns a page of the entries that match a filter, newest first, beginning before `before`.
    func audit(_ filter: AuditFilter, before: Int64?, limit: Int) async throws -> ListPage<AuditRecord>
}
