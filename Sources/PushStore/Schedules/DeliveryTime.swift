package import Foundation
package import PushTypes

/// The delivery time of a notification, the member `when` of a request: the start of sending, and the hours.
///
/// It depends on nothing but the time zone, so that one result holds for all devices of a zone.
package struct DeliveryTime: Hashable, Sendable {
    /// The start of sending.
    package enum Beginning: Hashable, Sendable {
        /// Sending begins at once.
        case now
        case at(Timestamp)
        /// Sending begins when the clocks of ``DeliveryTime/zone`` show this.
        case local(LocalDateTime, past: PastPolicy)
    }

    /// The policy for devices in zones where the local time had passed when the request was accepted.
    package enum PastPolicy: String, CaseIterable, Hashable, Sendable {
        /// They are sent to at once.
        case send
        /// They are left out.
        case skip
        /// They are sent to when their clocks show the time of day next.
        case nextDay
    }

    /// The clock that counts.
    package enum Zone: Hashable, Sendable {
        /// The device's own, or the standard one where a device has no known zone.
        case device(standard: TimeZone)
        case fixed(TimeZone)
    }

    /// The maximum age of a time in a request, which took time to arrive.
    package static let tolerance: Duration = .seconds(60)
    /// The maximum time ahead that a request may name.
    package static let maximumDelay: Duration = .seconds(366 * 86_400)

    package var beginning: Beginning
    /// The hours; `nil` is at any hour.
    package var window: SendWindow?
    package var zone = Zone.device(standard: .gmt)

    /// `true` if all devices have the same start in every zone.
    package var isSameEverywhere: Bool {
        if case .fixed = self.zone { return true }
        if case .local = self.beginning { return false }
        return self.window == nil
    }

    /// Returns the first time at which devices in `zone` may be sent to; `nil` if they are left out.
    /// - Parameters:
    ///   - zone: The zone that the devices reported; `nil` for none or an unknown one.
    ///   - acceptedAt: The time at which the request was accepted, so that the result is always the same.
    package func start(for zone: TimeZone?, acceptedAt: Timestamp) -> Timestamp? {
        let zone = self.effectiveZone(zone)
        guard let beginning = self.beginning(in: zone, acceptedAt: acceptedAt) else { return nil }
        return self.window?.nextOpening(onOrAfter: beginning, in: zone) ?? beginning
    }

    /// Returns the time at which sending to devices in `zone` may continue: `timestamp` itself inside open hours, otherwise the
    /// next opening. The dispatcher asks before each page, since hours may end during a long campaign.
    package func opening(onOrAfter timestamp: Timestamp, for zone: TimeZone?) -> Timestamp {
        self.window?.nextOpening(onOrAfter: timestamp, in: self.effectiveZone(zone)) ?? timestamp
    }

    /// Returns the time before which no device in any zone starts.
    package func earliestStart(acceptedAt: Timestamp) -> Timestamp {
        switch (self.zone, self.beginning) {
        case (.fixed(let zone), _): return self.start(for: zone, acceptedAt: acceptedAt) ?? acceptedAt
        case (.device, .local(let local, _)):
            // The easternmost clocks are 14 h ahead of UTC.
            return max(acceptedAt, Timestamp(seconds: local.localSeconds - 14 * 3600))
        case (.device, .at(let timestamp)): return max(acceptedAt, timestamp)
        case (.device, .now): return acceptedAt
        }
    }

    private func effectiveZone(_ zone: TimeZone?) -> TimeZone {
        switch self.zone {
        case .fixed(let fixed): fixed
        case .device(let standard): zone ?? standard
        }
    }

    private func beginning(in zone: TimeZone, acceptedAt: Timestamp) -> Timestamp? {
        switch self.beginning {
        case .now: return acceptedAt
        case .at(let timestamp): return max(timestamp, acceptedAt)
        case .local(let local, let past):
            let timestamp = zone.timestamp(of: local)
            guard timestamp < acceptedAt.advanced(by: .zero - Self.tolerance) else { return max(timestamp, acceptedAt) }
            switch past {
            case .send: return acceptedAt
            case .skip: return nil
            case .nextDay: return Self.next(local.time, onOrAfter: acceptedAt, in: zone)
            }
        }
    }

    /// Returns the first time, `timestamp` or later, at which the clocks of `zone` show `time`.
    private static func next(_ time: LocalTime, onOrAfter timestamp: Timestamp, in zone: TimeZone) -> Timestamp {
        var date = zone.local(at: timestamp).date
        // Two more days: one whose time has passed, and one that a zone may leave out.
        for _ in 0..<3 {
            let candidate = zone.timestamp(of: LocalDateTime(date: date, time: time))
            if candidate >= timestamp { return candidate }
            date = date.next
        }
        return timestamp
    }
}
