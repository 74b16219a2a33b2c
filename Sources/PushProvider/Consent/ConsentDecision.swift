package import Foundation
package import PushStore
package import PushTypes

/// Decides which recipients are skipped for what they or their users want, at one moment.
///
/// The store has read what is stored of a recipient; the time of day in its time zone decides about quiet hours. The cap is
/// decided where it is written (``PreferenceStore/reserve(_:notification:app:holders:now:)``).
struct ConsentDecision {
    private let now: Timestamp
    /// The times of day in zones that were asked for before: a page has few zones.
    private var times: [String: LocalTime] = [:]

    /// - Parameter now: The time by the wall clock.
    init(at now: Timestamp) { self.now = now }

    /// Returns the reason for which a recipient is skipped now; `nil` if it is sent to.
    mutating func reason(_ consent: RecipientConsent, timeZone: String?) -> SkipReason? {
        if let reason = consent.skips { return reason }
        guard let hours = consent.quietHours, hours.contains(self.time(in: timeZone)) else { return nil }
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
    /// Takes the recipients out that are skipped now.
    mutating func skipUnwanted(at now: Timestamp) {
        guard self.recipients.contains(where: { $0.consent != nil }) else { return }
        var decision = ConsentDecision(at: now)
        self.skip { recipient in
            recipient.consent.flatMap { decision.reason($0, timeZone: recipient.profile?.timeZone) }
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

/// The numbers of recipients that would be skipped, for each reason.
package struct ConsentForecast: Hashable, Sendable {
    package var counts: [SkipReason: Int] = [:]

    /// - Parameter start: Returns the time at which devices in a time zone are sent to; `nil` for those that are left out.
    package init(_ groups: [ConsentGroup], start: (TimeZone?) -> Timestamp?) {
        for group in groups {
            let zone = group.timeZone.flatMap { TimeZone(named: $0) }
            guard let time = start(zone) else { continue }
            var decision = ConsentDecision(at: time)
            let reason = decision.reason(group.consent, timeZone: group.timeZone)
            guard let reason = reason ?? (group.isCapReached ? .capReached : nil) else { continue }
            self.counts[reason, default: 0] += group.count
        }
    }
}
