package import Foundation
package import PushSupport
package import PushTypes

/// A person who can sign in.
package struct PersonRecord: Hashable, Sendable {
    /// The maximum length of a name, in bytes. A longer one is rejected.
    package static let maximumName = 100

    package var id: UUID
    /// The position in the list of all people, which the store assigns.
    package var number: Int64
    /// The name with which the person signs in, regardless of case.
    package var name: String
    package var role: PersonRole
    /// The apps to which the person is limited, or `nil` for all apps.
    package var apps: Set<Topic>?
    /// A Boolean value that indicates whether the person has redeemed a link and chosen a password.
    package var hasPassword: Bool
    package var createdAt: Timestamp
    /// The time of the last request, written at most once a minute, or `nil` for a person who never signed in.
    package var lastSeenAt: Timestamp?
    /// A Boolean value that indicates whether the person is disabled and cannot sign in.
    package var isDisabled: Bool
    /// The language of the pages, such as `de`, or `nil` for that of the browser.
    package var language: String?

    package init(
        id: UUID = UUID(),
        number: Int64 = 0,
        name: String,
        role: PersonRole,
        apps: Set<Topic>? = nil,
        hasPassword: Bool = false,
        createdAt: Timestamp,
        lastSeenAt: Timestamp? = nil,
        isDisabled: Bool = false,
        language: String? = nil
    ) {
        (self.id, self.number, self.name, self.role, self.apps) = (id, number, name, role, apps)
        (self.hasPassword, self.createdAt, self.lastSeenAt) = (hasPassword, createdAt, lastSeenAt)
        (self.isDisabled, self.language) = (isDisabled, language)
    }

    /// A Boolean value that indicates whether the person can sign in and administer everything.
    package var isLastingAdmin: Bool { self.role == .admin && self.apps == nil && self.hasPassword && !self.isDisabled }

    /// Returns the form of a name by which people are found: composed, in lower case.
    package static func key(of name: String) -> String {
        name.precomposedStringWithCompatibilityMapping.lowercased().precomposedStringWithCompatibilityMapping
    }
}

extension APICaller {
    /// Creates the caller for requests of a person.
    /// - Parameter session: The id of the session to which the request belongs, or `nil` outside of a session.
    package init(_ person: PersonRecord, session: UUID? = nil) {
        self.init(
            id: person.id,
            name: person.name,
            isPerson: true,
            scopes: Self.names(person.role.scopes),
            apps: person.apps,
            session: session
        )
    }
}

/// The result of changing a person.
package enum PersonChangeResult: Hashable, Sendable {
    case changed(PersonRecord)
    case missing
    /// A refusal because another person has the name.
    case nameTaken
    /// A refusal because no other person could sign in and administer everything.
    case lastAdmin
}

/// The result of deleting a person.
package enum PersonDeletionResult: Hashable, Sendable {
    case deleted, missing
    /// A refusal because no other person could sign in and administer everything.
    case lastAdmin
}
