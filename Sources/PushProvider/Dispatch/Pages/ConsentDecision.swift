import Foundation
import PushStore
import PushSupport
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

extension PageWork {
    /// Takes the recipients out that do not want the notification, or not now.
    ///
    /// Those that are not sent to now, as their environment is paused or they have expired, are not in quiet hours: these
    /// are checked when they are sent to.
    mutating func skipUnwanted(_ notification: PreparedNotification, at clocks: ClockReading) {
        guard self.recipients.contains(where: { $0.consent != nil }) else { return }
        var decision = ConsentDecision(at: clocks.wall)
        let latest = notification.record.clocksOfExpiry(clocks).later
        self.skip { recipient in
            guard let consent = recipient.consent else { return nil }
            let isSent = notification.isSent(recipient, at: latest)
            return decision.reason(consent, timeZone: recipient.profile?.timeZone, isSent: isSent)
        }
    }

    /// Takes recipients out.
    /// - Parameter reason: Returns the reason for which one is skipped; `nil` if it stays.
    mutating func skip(_ reason: (Recipient) -> SkipReason?) {
        var kept: [Recipient] = []
        kept.reserveCapacity(self.recipients.count)
        for recipient in self.recipients {
            if let reason = reason(recipient) {
                self.skipped.append((recipient, reason))
            } else {
                kept.append(recipient)
            }
        }
        self.recipients = kept
    }
}
