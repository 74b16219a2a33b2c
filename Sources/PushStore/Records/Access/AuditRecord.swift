package import Foundation
package import PushTypes

/// A change, or a rejected request, by an API key or a person.
package struct AuditRecord: Hashable, Sendable {
    package var id: Int64
    package var at: Timestamp
    /// The API key that was used, or the person.
    package var key: UUID?
    /// The name of the key, or of the person, at that time.
    package var keyName: String
    /// `true` if ``key`` and ``keyName`` are those of a person.
    package var isPerson: Bool
    /// The method and path, such as `PUT /v1/apps/com.example.MyApp/credentials/production`.
    package var action: String
    /// The id of what the request made, if its path does not hold it.
    package var resource: String?
    /// The HTTP status of the response.
    package var status: Int
    /// The number of requests that the entry stands for: more than one for rejected requests that repeat.
    package var count: Int

    package init(
        id: Int64 = 0,
        at: Timestamp,
        key: UUID?,
        keyName: String,
        isPerson: Bool = false,
        action: String,
        resource: String? = nil,
        status: Int,
        count: Int = 1
    ) {
        (self.id, self.at, self.key, self.keyName, self.isPerson) = (id, at, key, keyName, isPerson)
        (self.action, self.resource, self.status, self.count) = (action, resource, status, count)
    }
}

/// The conditions on the entries of the audit, all of which must hold.
package struct AuditFilter: Hashable, Sendable {
    /// The API key or the person, by the id.
    package var key: UUID?
    /// A part of its name at that time, in any case of ASCII letters.
    package var name: String?
    /// A part of the method and the path, in any case of ASCII letters.
    package var action: String?
    /// The id of what the request made.
    package var resource: String?
    /// `true` for rejected requests only, `false` for others only.
    package var hasFailed: Bool?
    /// The range of times, without its end.
    package var from, to: Timestamp?

    package init() {}
}
