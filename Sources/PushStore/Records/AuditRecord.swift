package import Foundation
package import PushTypes

/// Something that somebody changed.
package struct AuditRecord: Hashable, Sendable {
    package var id: Int64
    package var at: Timestamp
    /// The API key that was used, and its name then.
    package var key: UUID?
    package var keyName: String
    /// Method and path, such as `PUT /v1/apps/com.example.MyApp/credentials/production`.
    package var action: String
    /// HTTP status of the answer.
    package var status: Int
    /// Requests that the entry stands for: more than one for refusals that repeat.
    package var count: Int

    package init(
        id: Int64 = 0,
        at: Timestamp,
        key: UUID?,
        keyName: String,
        action: String,
        status: Int,
        count: Int = 1
    ) {
        self.id = id
        self.at = at
        self.key = key
        self.keyName = keyName
        self.action = action
        self.status = status
        self.count = count
    }
}
