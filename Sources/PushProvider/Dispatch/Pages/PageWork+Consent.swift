import PushStore
import PushSupport
import PushTypes

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
