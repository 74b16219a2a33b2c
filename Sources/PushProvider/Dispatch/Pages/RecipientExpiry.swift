import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTypes

/// The expirations of the recipients of one claim.
///
/// An `expiresIn` counts from a recipient's start: the acceptance, or the first moment at which pushes may be sent to
/// its time zone. All recipients in a time zone's shard expire together. Those of retries and of the last shard expire
/// individually.
struct RecipientExpiry: Sendable {
    /// The expiration of all recipients, or `nil` if it depends on each recipient's time zone.
    let common: Expiration?
    let record: NotificationRecord

    /// Creates the expirations. `zone` is that of the shard's devices, or `nil` for retries, which may have any zone.
    init(_ record: NotificationRecord, in zone: ShardPlan.Zone?) {
        self.record = record
        self.common =
            switch zone {
            case _ where !record.expiresByZone: record.expiration(in: nil)
            case .named(let name)?: record.expiration(in: TimeZone(named: name))
            case .any?, .unknown?: record.expiration(in: nil)
            case .remainder?, nil: nil
            }
    }

    func expiration(of recipient: Recipient) -> Expiration {
        self.common ?? self.record.expiration(in: recipient.timeZone)
    }

    /// Returns the time at which a recipient expires, by the clocks of ``NotificationRecord/clocksOfExpiry(_:)``.
    func end(of recipient: Recipient) -> Timestamp { self.record.end(of: self.expiration(of: recipient)) }

    /// The time at which all recipients expire, or `nil` if each has its own expiration.
    var commonEnd: Timestamp? { self.common.map(self.record.end) }
}

extension NotificationRecord {
    /// A Boolean value that indicates whether recipients in different time zones expire at different times.
    fileprivate var expiresByZone: Bool {
        guard self.content.expiresIn != nil, let delivery, case .devices = self.audience else { return false }
        return !delivery.isSameEverywhere
    }

    /// Returns the expiration of the recipients in a time zone. `nil` stands for devices without one.
    fileprivate func expiration(in zone: TimeZone?) -> Expiration {
        guard let seconds = self.content.expiresIn else { return self.content.expiration }
        let start = self.delivery?.start(for: zone, acceptedAt: self.createdAt) ?? self.createdAt
        return .at(seconds: max(1, start.advanced(by: .seconds(seconds)).seconds))
    }

    /// Returns the time at which an expiration takes effect.
    ///
    /// A notification that is not to be stored never expires before its page is sent. Without an expiration, the
    /// maximum storage time counts from the first page.
    fileprivate func end(of expiration: Expiration) -> Timestamp {
        switch expiration {
        case .servicePolicy:
            self.progress.startedAt?.advanced(by: Expiration.longestStorage) ?? Timestamp(milliseconds: .max)
        case .immediate: Timestamp(milliseconds: .max)
        case .at(let seconds): Timestamp(seconds: seconds)
        }
    }

    /// Returns the clocks by which recipients expire. For an expiration time, and for a duration from the start, both
    /// clocks count. For the maximum storage time, only the steady clock counts.
    func clocksOfExpiry(_ reading: ClockReading) -> ClockReading {
        let isOfPolicy = self.content.expiration == .servicePolicy && self.content.expiresIn == nil
        return isOfPolicy ? ClockReading(reading.steady) : reading
    }
}

extension PageWork {
    /// The maximum time for which recipients are postponed because the clocks disagree about their expiration.
    private static let longestPostponement: Duration = .seconds(3600)

    /// Postpones the recipients that have expired by the wall clock only, because that clock may be ahead.
    mutating func postponeDisputed(_ expiry: RecipientExpiry, at clocks: ClockReading) {
        func isDisputed(_ end: Timestamp) -> Bool { end <= clocks.wall && end > clocks.steady }
        guard expiry.commonEnd.map(isDisputed) ?? true else { return }
        let disputed = self.recipients.filter { isDisputed(expiry.end(of: $0)) }
        guard !disputed.isEmpty else { return }
        for recipient in disputed {
            let left = expiry.end(of: recipient).since(clocks.steady)
            let dueAt = clocks.steady.advanced(by: min(left, Self.longestPostponement))
            self.postponed.append(RetryResult(recipient, dueAt: dueAt))
        }
        self.recipients.removeAll { isDisputed(expiry.end(of: $0)) }
    }
}
