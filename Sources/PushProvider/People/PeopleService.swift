package import Foundation
package import ProviderModel
package import PushStore
package import PushSupport
package import PushTypes

/// Adds user accounts, and creates the links with which users choose their passwords.
package struct PeopleService: Sendable {
    /// A link that was just created. The store keeps only the hash of its text.
    package struct NewLink: Hashable, Sendable {
        package let text: String
        /// The time at which the link expires, by the wall clock.
        package let expiresAt: Timestamp

        /// The path of the page at which the link is redeemed.
        package var path: String { "/dashboard/link/\(self.text)" }
    }

    package let store: any PersonStore
    private let settings: SessionSettings
    private let time: any TimeSource

    package init(store: any PersonStore, settings: SessionSettings = SessionSettings(), time: any TimeSource) {
        (self.store, self.settings, self.time) = (store, settings, time)
    }

    /// Adds a user account, whose password the user chooses with the link.
    /// - Returns: The account and its link, or `nil` if another account has the name.
    package func add(_ person: PersonRecord) async throws -> (person: PersonRecord, link: NewLink)? {
        let (link, record) = self.link(for: person.id)
        return try await self.store.addPerson(person, link: record).map { ($0, link) }
    }

    /// Creates a link with which a user chooses a password. It replaces the user's earlier link.
    /// - Parameter person: The id of the user, or `nil` for the first admin, whom redeeming the link creates.
    /// - Returns: The link, or `nil` if there is no such user, the user is disabled, or the first admin exists already.
    package func makeLink(for person: UUID?) async throws -> NewLink? {
        let (link, record) = self.link(for: person)
        return try await self.store.setLink(record) ? link : nil
    }

    private func link(for person: UUID?) -> (NewLink, LinkRecord) {
        let text = SessionToken.make()
        let expiresAt = self.time.steady.advanced(by: self.settings.link)
        return (
            NewLink(text: text, expiresAt: self.time.now.advanced(by: self.settings.link)),
            LinkRecord(hash: SessionToken.hash(text), person: person, expiresAt: expiresAt)
        )
    }
}
