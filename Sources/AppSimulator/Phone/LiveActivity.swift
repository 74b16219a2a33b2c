package import Foundation
package import PushSupport

/// The members of a payload that start, update or end a Live Activity (APNs reference 3.4).
package struct LiveActivityPush: Hashable, Sendable {
    /// The change to a Live Activity that a push requests.
    package enum Event: String, Sendable { case start, update, end }

    /// The requested change, or `nil` for a value that is unknown, which is reported as a problem.
    package let event: Event?
    /// The time at which the provider created the push, or `nil` if it is missing. A push that is older than the last
    /// one is ignored.
    package let timestamp: Date?
    package let contentState: [String: JSONValue]?
    package let attributesType: String?
    package let attributes: [String: JSONValue]?
    package let staleDate: Date?
    package let dismissalDate: Date?
    /// The broadcast channel from which the started Live Activity receives its updates, or `nil` if they are sent by
    /// token.
    package let channel: String?

    init(_ aps: inout PayloadReader) {
        let name = aps.text("event")
        let event = name.flatMap(Event.init)
        if let name, event == nil { aps.reject("event", "is unknown: '\(name)'") }
        self.event = event
        self.timestamp = aps.time("timestamp")
        self.contentState = aps.object("content-state")
        self.attributesType = aps.text("attributes-type")
        self.attributes = aps.object("attributes")
        self.staleDate = aps.time("stale-date")
        self.dismissalDate = aps.time("dismissal-date")
        self.channel = aps.text("input-push-channel")
    }
}

/// A Live Activity on the Lock Screen.
package struct LiveActivity: Hashable, Sendable, Codable {
    /// The maximum time for which an ended Live Activity stays on the Lock Screen, in seconds (APNs reference 3.4).
    package static let longestStay: TimeInterval = 4 * 60 * 60

    /// The number of the Live Activity on this phone, counted from 1.
    package let number: Int
    /// The name in the app's code for the type of the activity's attributes (`attributes-type`).
    package let type: String
    package let attributes: [String: JSONValue]
    package internal(set) var contentState: [String: JSONValue]
    /// The timestamp of the newest push that has changed the Live Activity. Older pushes are ignored.
    var timestamp: Date
    /// The broadcast channel that updates the Live Activity, or `nil` if a token does.
    let channel: String?
    /// The time at which the content becomes stale, or `nil` if it never does.
    package internal(set) var staleAt: Date?
    package internal(set) var isStale = false
    /// The time at which the ended Live Activity is removed from the Lock Screen, or `nil` while it runs.
    package internal(set) var removeAt: Date?

    /// The id by which audiences select the Live Activity: the attribute `id`, or else the type and the number, such as
    /// `Order-1`.
    package var id: String {
        if case .string(let id)? = self.attributes["id"], (1...Self.longestID).contains(id.utf8.count) { return id }
        return "\(self.type)-\(self.number)"
    }

    /// The maximum length of a Live Activity's id in a registration, in bytes. A longer attribute `id` is not used.
    private static let longestID = 255

    /// A Boolean value that indicates whether the Live Activity has ended and is still on the Lock Screen.
    package var hasEnded: Bool { self.removeAt != nil }
}
