package import Foundation
package import PushTypes

/// A change, or a rejected request, by API key.
package struct AuditRecord: Hashable, Sendable {
    package var id: Int64
    package var at: Timestamp
    /// The API key that was used.
    package var key: UUID?
    /// The name of the key at that time.
    package var keyName: String
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
        action: String,
        resource: String? = nil,
        status: Int,
        count: Int = 1
    ) {
        (self.id, self.at, self.key, self.keyName) = (id, at, key, keyName)
        (self.action, self.resource, self.status, self.count) = (action, resource, status, count)
    }
}
