package import Foundation
package import ProviderModel
package import PushTypes

/// The store of API keys, which are found by their SHA-256 hash.
package protocol APIKeyStore: Sendable {
    /// Adds a key. Only its hash is stored.
    /// - Throws: ``StoreError/noSuchApp(_:)`` for a key that is limited to an app that does not exist, because the key
    ///   would become valid for an app that is later added under that bundle id.
    func addKey(_ key: APIKeyRecord, hash: [UInt8]) async throws
    /// Returns the key with this hash, or `nil` if there is none.
    func key(hash: [UInt8]) async throws -> APIKeyRecord?
    /// Returns the hashes of at most `limit` stored keys, in no particular order. With them, the provider looks up
    /// existing keys even for clients that have sent too many wrong keys.
    func keyHashes(limit: Int) async throws -> [[UInt8]]
    /// Returns all keys, oldest first.
    func keys() async throws -> [APIKeyRecord]
    /// Changes the name, the scopes, the apps, the expiry or the rate of a key.
    ///
    /// The change is refused with ``KeyChangeResult/lastAdmin`` if no lasting admin key
    /// (``APIKeyRecord/isLastingAdmin``) would remain. Of two concurrent changes that would together do so, one is
    /// refused.
    /// - Throws: ``StoreError/noSuchApp(_:)`` if the key is newly limited to an app that does not exist.
    func changeKey(_ id: UUID, _ change: @escaping @Sendable (inout APIKeyRecord) -> Void) async throws
        -> KeyChangeResult
    /// Deletes a key. If no lasting admin key (``APIKeyRecord/isLastingAdmin``) would remain, it deletes nothing and
    /// returns ``KeyDeletionResult/lastAdmin``. If two keys delete each other concurrently, one of them stays.
    func deleteKey(_ id: UUID) async throws -> KeyDeletionResult
    /// Stores the times of keys' last requests, by key id, in one transaction. Earlier times than stored are ignored.
    func setLastUses(_ uses: [UUID: Timestamp]) async throws
}

/// The store of the secrets with which apps' back ends sign user proofs, which state that an installation belongs to a
/// user. Registrations with a public key need such a proof.
package protocol UserSecretStore: Sendable {
    /// Adds a secret to an app.
    /// - Returns: `true`, or `false` if the app already has `limit` secrets, in which case nothing is added.
    func addUserSecret(_ secret: UserSecretRecord, app: Int64, limit: Int) async throws -> Bool
    /// Returns the secrets of an app, the oldest first.
    func userSecrets(app: Int64) async throws -> [UserSecretRecord]
    /// Removes a secret. User proofs that were signed with the secret become invalid.
    /// - Returns: `true`, or `false` if the app has no secret with this id.
    func deleteUserSecret(_ id: UUID, app: Int64) async throws -> Bool
    /// Returns the secret with which a caller proves that an installation is its own. It is sent only in the first
    /// response to the installation, and is derived from the master key instead of stored.
    func installationSecret(_ installation: String, of app: Topic) -> String
}

/// The store of the people who can sign in, and of the links with which they choose their passwords.
package protocol PersonStore: Sendable {
    /// The key with which passwords are hashed. It is derived from the master key and not stored.
    var passwordSecret: String { get }
    /// Adds a person, and a link for choosing the password.
    /// - Returns: The person with the assigned number, or `nil` if another person already has the name.
    /// - Throws: ``StoreError/noSuchApp(_:)`` for a person who is limited to an app that does not exist.
    func addPerson(_ person: PersonRecord, link: LinkRecord) async throws -> PersonRecord?
    func person(_ id: UUID) async throws -> PersonRecord?
    /// Returns people in the order of their addition, at most `limit`.
    /// - Parameter after: The number of the last person on the previous page, or `nil` for the first page.
    func people(after: Int64?, limit: Int) async throws -> [PersonRecord]
    /// Changes the name, the role, the apps or the language of a person, or disables or enables the person.
    ///
    /// The person's sessions end if the role or the apps change, or if the person is disabled. Disabling also
    /// invalidates the person's link for choosing a password.
    ///
    /// The result is ``PersonChangeResult/lastAdmin``, and nothing changes, if no lasting admin
    /// (``PersonRecord/isLastingAdmin``) would remain. Of two concurrent changes with this effect, one is refused.
    /// - Throws: ``StoreError/noSuchApp(_:)`` if the person is newly limited to an app that does not exist.
    func changePerson(_ id: UUID, _ change: @escaping @Sendable (inout PersonRecord) -> Void) async throws
        -> PersonChangeResult
    /// Deletes a person with all sessions and links. If no lasting admin (``PersonRecord/isLastingAdmin``) would
    /// remain, it deletes nothing and returns ``PersonDeletionResult/lastAdmin``.
    func deletePerson(_ id: UUID) async throws -> PersonDeletionResult
    /// Replaces the password of a person, and ends all sessions and links of the person.
    /// - Parameter old: The stored, hashed password that the caller has checked.
    /// - Returns: `true`, or `false` if the stored password has changed since the check, or if the person is disabled.
    func setPassword(_ new: String, of person: UUID, replacing old: String) async throws -> Bool
    /// Returns a person's stored, hashed password, or `nil` if the person does not exist, is disabled or has none yet.
    func password(of person: UUID) async throws -> String?

    /// Stores a link, replacing the person's earlier one. A link without a person is for creating the first person.
    /// - Returns: `true`, or `false` if the person does not exist or is disabled, or if the link is for the first
    ///   person and there is a person already.
    func setLink(_ link: LinkRecord) async throws -> Bool
    /// Returns the purpose of the link with this hash, or `nil` if there is none, if it has expired, if its person is
    /// disabled, or if it is for the first person and there is a person already.
    /// - Parameter now: The current time by the steady clock, which decides whether the link has expired.
    func link(hash: [UInt8], now: Timestamp) async throws -> ValidLink?
    /// Redeems a link: it invalidates the link, sets the password, ends all earlier sessions of the person, and begins
    /// a session. Of two concurrent calls, one is refused.
    /// - Parameters:
    ///   - link: The hash of the link.
    ///   - person: The person for whom the link is, or the new person that the link creates.
    ///   - password: The hashed password to store.
    ///   - signIn: The session to begin.
    /// - Returns: The stored person, or `nil` if the link was replaced, redeemed, has expired or is for another person.
    func redeem(
        link: [UInt8],
        for person: PersonRecord,
        password: String,
        _ signIn: SignInRecord
    ) async throws -> PersonRecord?
}

/// The store of browsers' sessions, and of sign-in locks, which follow failed attempts to sign in.
package protocol SessionStore: Sendable {
    /// Returns the person with a name, the hashed password, and whether the person has signed in from `network` before,
    /// or `nil` if no person has the name.
    /// - Parameter network: The network from which the client attempts to sign in.
    func signInCandidate(name: String, network: [UInt8]) async throws -> SignInCandidate?
    /// Returns whether `network` is among the ten latest sign-in networks of any person.
    func isKnownNetwork(_ network: [UInt8]) async throws -> Bool
    /// Changes the sign-in lock of a name in one transaction, whether or not a person has the name. The lock delays
    /// attempts to sign in after failed ones.
    ///
    /// The store keeps only a keyed hash of the name, because people sometimes type their password into its field.
    /// - Parameter now: The current time by the steady clock.
    /// - Returns: The value that `change` returns.
    func changeSignInLock<Value: Sendable>(
        of name: String,
        now: Timestamp,
        _ change: @escaping @Sendable (inout SignInLock) -> Value
    ) async throws -> Value
    /// Begins a session of a person, removes the sign-in lock of the person's name, and stores the client's network.
    /// - Parameters:
    ///   - person: The person as read when the password was checked.
    ///   - password: The stored, hashed password that the caller has checked.
    ///   - renewed: The password hashed in a newer form, to replace the stored ``password``, or `nil` to keep that one.
    /// - Returns: `true`, or `false` if the stored password has changed since, or the person was deleted or disabled.
    func signIn(_ signIn: SignInRecord, _ person: PersonRecord, password: String, renewed: String?) async throws -> Bool
    /// Begins a session for the holder of an API key.
    /// - Returns: `true`, or `false` if the key no longer exists.
    func signIn(_ signIn: SignInRecord, key: UUID) async throws -> Bool
    /// Returns the session whose token has this hash, even an expired one, with the record of its holder, a person or
    /// an API key, or `nil` if there is no such session or if its holder no longer exists.
    func session(hash: [UInt8]) async throws -> StoredSession?
    /// Records the latest use of a session.
    /// - Parameters:
    ///   - used: The time of the use by the steady clock, from which the expiry is computed.
    ///   - now: The time of the use by the wall clock, which is shown as the time at which the person was last seen.
    func setLastUse(of session: UUID, _ used: Timestamp, now: Timestamp) async throws
    /// Returns the sessions of a holder, the newest first.
    func sessions(of holder: SessionHolder) async throws -> [SessionRecord]
    /// Ends a session.
    /// - Returns: `true`, or `false` if the holder has no session with this id.
    func endSession(_ id: UUID, of holder: SessionHolder) async throws -> Bool
    /// Ends all sessions of a holder.
    /// - Returns: The number of ended sessions.
    @discardableResult
    func endSessions(of holder: SessionHolder) async throws -> Int
}

/// The store of the audit log, which records changes by API keys and people.
package protocol AuditStore: Sendable {
    /// Adds an entry.
    /// - Returns: The id of the entry.
    @discardableResult
    func addAudit(_ entry: AuditRecord) async throws -> Int64
    /// Sets the number of equal requests that an entry represents.
    func setAuditCount(_ count: Int, of id: Int64) async throws
    /// Returns a page of the entries that match a filter, newest first.
    /// - Parameter before: The id of the last entry on the previous page, or `nil` for the first page.
    func audit(_ filter: AuditFilter, before: Int64?, limit: Int) async throws -> ListPage<AuditRecord>
}
