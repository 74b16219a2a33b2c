import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTypes

/// Decides which recipients are skipped because of the preferences of their devices or users, at one moment.
///
/// The store returns the preferences with each recipient. Quiet hours apply to the time of day in the recipient's time
/// zone. The frequency cap is applied in the transaction that counts towards it (``UserStore/reserve(_:)``).
struct ConsentDecision {
    private let now: Timestamp
    /// The times of day, keyed by time zone and computed once each.
    private var times: [String: LocalTime] = [:]

    /// Creates a decision for the current time by the wall clock.
    init(at now: Timestamp) { self.now = now }

    /// Returns the reason why a recipient is skipped, or `nil` if it is not skipped.
    /// - Parameter isSent: `true` if a push would be sent to the recipient now. Only then are quiet hours checked.
    mutating func reason(_ consent: RecipientConsent, timeZone: String?, isSent: Bool = true) -> SkipReason? {
        if let reason = consent.skips { return reason }
        guard isSent, let hours = consent.quietHours, hours.contains(self.time(in: timeZone)) else { return nil }
        return .quietHours
    }

    /// Returns the time of day in a time zone, or in UTC if the zone is absent or unknown.
    private mutating func time(in zone: String?) -> LocalTime {
        let name = zone ?? ""
        if let time = self.times[name] { return time }
        let time = (zone.flatMap { TimeZone(named: $0) } ?? .gmt).local(at: self.now).time
        self.times[name] = time
        return time
    }
}

extension PageWork {
    /// Skips the recipients whose preferences exclude the notification.
    ///
    /// Quiet hours are checked only for recipients that get a push now, not for those that have expired or whose
    /// environment is paused.
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

    /// Skips recipients.
    /// - Parameter reason: Returns the reason why a recipient is skipped, or `nil` if it is kept.
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
