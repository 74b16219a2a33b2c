package import Foundation
package import PushTypes

/// An entry of the audit log: a change, or a rejected request, by an API key or a person.
package struct AuditRecord: Hashable, Sendable {
    package var id: Int64
    package var at: Timestamp
    /// The id of the API key or person that made the request, or `nil` if it named none.
    package var key: UUID?
    /// The name of the key, or of the person, at the time of the request.
    package var keyName: String
    /// A Boolean value that indicates whether ``key`` and ``keyName`` are those of a person.
    package var isPerson: Bool
    /// The method and path, such as `PUT /v1/apps/com.example.MyApp/credentials/production`.
    package var action: String
    /// The id of the resource that the request created, or `nil` if it created none or if the path names it.
    package var resource: String?
    /// The HTTP status of the response.
    package var status: Int
    /// The number of requests that the entry stands for. Repeated rejected requests share an entry.
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

/// The conditions that listed entries of the audit log must all meet. A condition that is `nil` accepts any value.
package struct AuditFilter: Hashable, Sendable {
    /// The id of the API key or the person, or `nil` for any.
    package var key: UUID?
    /// A part of the name that the caller had, regardless of the case of ASCII letters, or `nil` for any name.
    package var name: String?
    /// A part of the method and path, regardless of the case of ASCII letters, or `nil` for any.
    package var action: String?
    /// The id of the resource that the request created, or `nil` for any.
    package var resource: String?
    /// A Boolean value that selects rejected requests if `true` and successful ones if `false`, or `nil` for both.
    package var hasFailed: Bool?
    /// The first time and the exclusive last time of the entries, or `nil` for no bound.
    package var from, to: Timestamp?

    package init() {}
}
