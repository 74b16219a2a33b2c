package import Foundation
package import PushTypes

/// The member `when` of a notification request: from which moment its devices may be sent to, and in which hours.
///
/// Devices differ only by their time zone, so one answer holds for all devices of a zone.
package struct DeliveryTime: Hashable, Sendable {
    /// When sending begins.
    package enum Beginning: Hashable, Sendable {
        /// At once.
        case now
        case at(Timestamp)
        /// When the clocks of ``DeliveryTime/zone`` show this.
        case local(LocalDateTime, past: PastPolicy)
    }

    /// What happens to devices in zones where the local time had passed when the request was accepted.
    package enum PastPolicy: String, CaseIterable, Hashable, Sendable {
        /// They are sent to at once.
        case send
        /// They are left out.
        case skip
        /// They are sent to when their clocks show the time of day next.
        case nextDay
    }

    /// Whose clock counts.
    package enum Zone: Hashable, Sendable {
        /// Each device's own; the standard one where a device has none that is known.
        case device(standard: TimeZone)
        case fixed(TimeZone)
    }

    /// How long ago a time may lie that a request names: it was on its way.
    package static let tolerance: Duration = .seconds(60)
    /// How far ahead a request may reach.
    package static let maximumDelay: Duration = .seconds(366 * 86_400)

    package var beginning: Beginning
    /// `nil`: at any hour.
    package var window: SendWindow?
    package var zone: Zone

    package init(beginning: Beginning, window: SendWindow? = nil, zone: Zone = .device(standard: .gmt)) {
        self.beginning = beginning
        self.window = window
        self.zone = zone
    }

    /// Whether every device has the same start, whatever its zone.
    package var isSameEverywhere: Bool {
        if case .fixed = self.zone { return true }
        if case .local = self.beginning { return false }
        return self.window == nil
    }

    /// The first moment at which devices in `zone` may be sent to; `nil` if they are left out.
    /// - Parameters:
    ///   - zone: what the devices reported; `nil` for none or one that is not known.
    ///   - acceptedAt: when the request was accepted, so that the answer is the same whenever it is asked for.
    package func start(for zone: TimeZone?, acceptedAt: Timestamp) -> Timestamp? {
        let zone = self.effectiveZone(zone)
        guard let beginning = self.beginning(in: zone, acceptedAt: acceptedAt) else { return nil }
        return self.window?.nextOpening(onOrAfter: beginning, in: zone) ?? beginning
    }

    /// When sending to devices in `zone` may go on once it has begun: `moment` itself inside open hours, otherwise the
    /// next opening. To be asked before each page, since a window may close over a long campaign.
    package func opening(onOrAfter moment: Timestamp, for zone: TimeZone?) -> Timestamp {
        self.window?.nextOpening(onOrAfter: moment, in: self.effectiveZone(zone)) ?? moment
    }

    /// No device anywhere starts before this moment: before it there is no need to look for any.
    package func earliestStart(acceptedAt: Timestamp) -> Timestamp {
        switch (self.zone, self.beginning) {
        case (.fixed(let zone), _):
            return self.start(for: zone, acceptedAt: acceptedAt) ?? acceptedAt
        case (.device, .local(let local, _)):
            // The easternmost clocks are 14 h ahead of UTC.
            return max(acceptedAt, Timestamp(seconds: local.localSeconds - 14 * 3600))
        case (.device, .at(let moment)):
            return max(acceptedAt, moment)
        case (.device, .now):
            return acceptedAt
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
        case .now:
            return acceptedAt
        case .at(let moment):
            return max(moment, acceptedAt)
        case .local(let local, let past):
            let moment = zone.moment(of: local)
            guard moment < acceptedAt.advanced(by: .zero - Self.tolerance) else { return max(moment, acceptedAt) }
            switch past {
            case .send: return acceptedAt
            case .skip: return nil
            case .nextDay: return Self.next(local.time, onOrAfter: acceptedAt, in: zone)
            }
        }
    }

    /// The first moment, `moment` or later, at which the clocks of `zone` come to show `time`.
    private static func next(_ time: LocalTime, onOrAfter moment: Timestamp, in zone: TimeZone) -> Timestamp {
        var date = zone.local(at: moment).date
        // Two more days: one whose time has passed, and one that a zone may leave out.
        for _ in 0..<3 {
            let candidate = zone.moment(of: LocalDateTime(date: date, time: time))
            if candidate >= moment { return candidate }
            date = date.next
        }
        return moment
    }
}
