import Foundation
import PushStore
import PushTypes

/// Decides which recipients are skipped for what they or their users want, at one moment.
///
/// The store has read what is stored of a recipient; the time of day in its time zone decides about quiet hours. The cap is
/// decided where it is written (``UserStore/reserve(_:)``).
struct ConsentDecision {
    private let now: Timestamp
    /// The times of day in zones that were asked for before: a page has few zones.
    private var times: [String: LocalTime] = [:]

    /// - Parameter now: The time by the wall clock.
    init(at now: Timestamp) { self.now = now }

    /// Returns the reason for which a recipient is skipped; `nil` if it is not.
    /// - Parameter isSent: Indicates whether it would be sent to now: quiet hours say nothing about another time.
    mutating func reason(_ consent: RecipientConsent, timeZone: String?, isSent: Bool = true) -> SkipReason? {
        if let reason = consent.skips { return reason }
        guard isSent, let hours = consent.quietHours, hours.contains(self.time(in: timeZone)) else { return nil }
        return .quietHours
    }

    /// Returns the time of day on a device's clock, that of UTC for a device without a known zone.
    private mutating func time(in zone: String?) -> LocalTime {
        let name = zone ?? ""
        if let time = self.times[name] { return time }
        let time = (zone.flatMap { TimeZone(named: $0) } ?? .gmt).local(at: self.now).time
        self.times[name] = time
        return time
    }
}
