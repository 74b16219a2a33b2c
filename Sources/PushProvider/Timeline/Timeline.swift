package import Foundation
package import PushTypes

/// The ordered list of the steps of a delivery or a notification.
package struct Timeline: Hashable, Sendable {
    /// The subject of a timeline.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case delivery, notification
    }

    package var kind: Kind
    package var notification: UUID
    /// The bundle id of the app, or `nil` if the app was removed.
    package var app: Topic?
    /// The `apns-id` of a delivery's push, or `nil` for a notification.
    package var apnsID: String?
    package var device: Int64?
    /// The first bytes of the token, or `nil` if it is not known.
    package var token: String?
    package var environment: PushEnvironment?
    /// The state of the delivery, `pending` before it has one, or the state of the notification.
    package var state: String
    package var reason: String?
    /// The steps in chronological order.
    package var steps: [TimelineStep] = []
    /// Notes about facts that are not known, with the reasons.
    package var notes: [String] = []
}

/// A step of a timeline.
package struct TimelineStep: Hashable, Sendable {
    /// The program or service that has performed a step.
    package enum Source: String, Hashable, Sendable, CaseIterable {
        case api, provider, sender, pushService, gateway, app, webhook
    }

    /// The kind of a step.
    package enum Event: String, Hashable, Sendable, CaseIterable {
        case requested, checked, accepted, scheduled, opened, started, claimed, connected, sent, answered, tried, waits
        case ended, committed, tokenChanged, posted, acknowledged, reported, receipt, pages, finished
    }

    package var at: Timestamp
    package var source: Source
    package var event: Event
    package var text: String

    package init(_ at: Timestamp, _ source: Source, _ event: Event, _ text: String) {
        (self.at, self.source, self.event, self.text) = (at, source, event, text)
    }
}

extension [TimelineStep] {
    /// The steps in chronological order. Steps with equal times keep their order.
    var ordered: [TimelineStep] {
        self.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }
}
