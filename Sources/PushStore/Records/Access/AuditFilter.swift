package import Foundation
package import PushTypes

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
