package import Foundation
package import PushTypes

/// The conditions on the notifications of a list, all of which must hold.
package struct NotificationFilter: Hashable, Sendable {
    /// The apps of the notifications.
    package var apps: [Int64]
    package var state: NotificationRecord.State?
    /// The whole name.
    package var name: String?
    /// A part of the name, in any case of ASCII letters.
    package var nameContains: String?
    /// The API key or the person that sent it, by the id.
    package var key: UUID?
    package var lane: NotificationRecord.Lane?
    package var pushType: PushType?
    /// The schedule that made it.
    package var schedule: UUID?
    /// The range of times of acceptance, without its end.
    package var from, to: Timestamp?

    package init(apps: [Int64]) { self.apps = apps }
}

/// The orders in which notifications are listed. Each has an index.
package enum NotificationSort: String, Hashable, Sendable, CaseIterable {
    case newest
    /// Those with a name, by its bytes.
    case name
    /// Those with more than one recipient, the most recipients first.
    case recipients
    /// Those in progress first, see ``states``; the newest of a state first.
    case state

    /// The order of the states.
    static let states: [NotificationRecord.State] = [.sending, .accepted, .paused, .scheduled, .cancelled, .done]
}
