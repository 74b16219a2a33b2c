import Foundation
import Testing

@testable import AppSimulator

/// A phone's notification centre with a manual clock, and the pushes that reach it.
struct Phone {
    var center = PhoneNotificationCenter()
    var now = Date(timeIntervalSince1970: 1_700_000_000)

    /// Delivers a payload, past the extension.
    mutating func receive(
        _ payload: String,
        id: String? = nil,
        collapse: String? = nil,
        type: String? = "alert",
        channel: String? = nil
    ) -> [PhoneEvent] {
        let push = PhonePush(
            apnsID: id,
            pushType: type,
            collapseID: collapse,
            channelID: channel,
            payload: Data(payload.utf8)
        )
        switch self.center.arrived(push) {
        case .drop(let events): return events
        case .deliver(let content), .runExtension(let content):
            return self.center.deliver(content, of: push, now: self.now)
        }
    }

    /// Lets time pass.
    mutating func advance(by seconds: TimeInterval) -> [PhoneEvent] {
        self.now += seconds
        return self.center.advance(to: self.now)
    }

    /// The bodies in the list, that shown last at the end.
    var bodies: [String?] { self.center.entries.map(\.body) }
}

extension [PhoneEvent] {
    /// The reasons for which nothing was shown.
    var reasons: [NotShownReason] { self.compactMap { if case .notShown(_, let reason) = $0 { reason } else { nil } } }
    var problems: [String] { self.compactMap { if case .problem(let text, _) = $0 { text } else { nil } } }
    var appearances: [NotificationAppearance] {
        self.compactMap { if case .shown(_, let appearance) = $0 { appearance } else { nil } }
    }
    var changes: [LiveActivityChange] {
        self.compactMap { if case .activity(_, let change) = $0 { change } else { nil } }
    }
    var wakes: Int { self.count { if case .woken = $0 { true } else { false } } }
}
