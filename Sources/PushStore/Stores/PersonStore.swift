package import Foundation
package import PushTypes

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
