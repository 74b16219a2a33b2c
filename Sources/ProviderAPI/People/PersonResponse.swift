import Foundation
package import PushHTTP
import PushProvider
package import PushStore
import PushSupport
package import PushTypes

/// A person in a response.
package struct PersonResponse: ResponseObject {
    package let record: PersonRecord
    /// The link with which the person chooses a password, if this response shows it.
    var link: PeopleService.NewLink?

    package var apps: [Topic]? { self.record.apps?.sorted { $0.name < $1.name } }
    private var createdAt: String { self.record.createdAt.rfc3339 }
    private var lastSeenAt: String? { self.record.lastSeenAt?.rfc3339 }
    package var path: String? { self.link?.path }
    private var linkExpiresAt: String? { self.link?.expiresAt.rfc3339 }

    package static let schemaName: String? = "Person"
    package static let members: [ResponseMember<Self>] = [
        .required("id", \.record.id),
        .required("name", \.record.name),
        .required("role", \.record.role),
        .optional("apps", \.apps, "The apps that the person is limited to; absent for all."),
        .required("disabled", \.record.isDisabled, "Whether the person cannot sign in."),
        .required("hasPassword", \.record.hasPassword, "Whether the person has redeemed a link."),
        .required("createdAt", \.createdAt, as: .dateTime),
        .optional("lastSeenAt", \.lastSeenAt, as: .dateTime, "Absent for a person who never signed in."),
        .optional("language", \.record.language),
        .optional("link", \.path, "The path with which the person chooses a password, once; only when it is made."),
        .optional("linkExpiresAt", \.linkExpiresAt, as: .dateTime),
    ]
}

/// The account of the caller in a response.
package struct AccountResponse: ResponseObject {
    let id: String
    package let name: String
    package let isPerson: Bool
    package let role: PersonRole?
    package let scopes: [String]
    package let apps: [Topic]?
    package let language: String?

    package static let schemaName: String? = "Me"
    package static let members: [ResponseMember<Self>] = [
        .required("id", \.id, as: .uuid), .required("name", \.name),
        .required("isPerson", \.isPerson, "Whether it is a person; otherwise it is an API key."),
        .optional("role", \.role, "Absent for an API key."), .required("scopes", \.scopes),
        .optional("apps", \.apps, "The apps that the caller is limited to; absent for all."),
        .optional("language", \.language),
    ]
}

/// A session in a response.
package struct SessionResponse: ResponseObject {
    package let record: SessionRecord
    package let isCurrent: Bool
    private let createdAt, lastUsedAt, expiresAt: String

    /// - Parameters:
    ///   - current: The session of the request.
    ///   - now: The clocks, because the times of a session are those of the steady one.
    init(_ record: SessionRecord, current: UUID?, now: ClockReading) {
        (self.record, self.isCurrent) = (record, record.id == current)
        self.createdAt = now.wall(atSteady: record.createdAt).rfc3339
        self.lastUsedAt = now.wall(atSteady: record.lastUsedAt).rfc3339
        self.expiresAt = now.wall(atSteady: record.expiresAt).rfc3339
    }

    package static let schemaName: String? = "Session"
    package static let members: [ResponseMember<Self>] = [
        .required("id", \.record.id), .required("current", \.isCurrent, "Whether it is the session of this request."),
        .required("createdAt", \.createdAt, as: .dateTime),
        .required("lastUsedAt", \.lastUsedAt, as: .dateTime, "A minute late at most."),
        .required("expiresAt", \.expiresAt, as: .dateTime, "The end, however much it is used."),
        .required("agent", \.record.agent, "The browser, as it names itself."),
    ]
}
