package import Foundation
package import PushTypes

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
