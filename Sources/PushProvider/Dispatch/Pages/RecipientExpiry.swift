import Foundation
import PushStore
import PushSupport
import PushTypes

/// The expirations of the recipients of one claim.
///
/// An `expiresIn` counts from a recipient's start: the acceptance, or the first moment at which its time zone may be
/// sent to. All recipients of a time zone's shard expire together, those of retries and of the last shard one by one.
struct RecipientExpiry: Sendable {
    /// The expiration of all recipients; `nil` where it depends on the time zone of each.
    let common: Expiration?
    private let record: NotificationRecord

    /// - Parameter zone: The devices of the shard; `nil` for retries, which may be of any zone.
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

    /// Returns the time after which no try makes sense, by the clocks of ``NotificationRecord/clocksOfExpiry(_:)``.
    func end(of recipient: Recipient) -> Timestamp { self.record.end(of: self.expiration(of: recipient)) }

    /// The time after which no try makes sense for any recipient; `nil` where each has its own.
    var commonEnd: Timestamp? { self.common.map(self.record.end) }

    /// Returns the time after which there is no further try. A notification that is not to be stored has one more try
    /// within a minute of its first.
    func lastRetry(of recipient: Recipient, sentAt: Timestamp) -> Timestamp {
        self.lastRetry(of: recipient, sentAt: sentAt, isRetry: recipient.attempts > 0)
    }

    /// - Parameter isRetry: Indicates whether the recipient was tried, or held back, before.
    func lastRetry(of recipient: Recipient, sentAt: Timestamp, isRetry: Bool) -> Timestamp {
        guard self.record.content.expiration == .immediate else { return self.end(of: recipient) }
        return isRetry ? sentAt : sentAt.advanced(by: .seconds(60))
    }
}

extension NotificationRecord {
    /// `true` if recipients in different time zones expire at different times.
    fileprivate var expiresByZone: Bool {
        guard self.content.expiresIn != nil, let delivery, case .devices = self.audience else { return false }
        return !delivery.isSameEverywhere
    }

    /// Returns the expiration of the recipients in a time zone.
    fileprivate func expiration(in zone: TimeZone?) -> Expiration {
        guard let seconds = self.content.expiresIn else { return self.content.expiration }
        let start = self.delivery?.start(for: zone, acceptedAt: self.createdAt) ?? self.createdAt
        return .at(seconds: max(1, start.advanced(by: .seconds(seconds)).seconds))
    }

    /// Returns the time after which no try makes sense.
    ///
    /// A notification that is not to be stored is tried whenever its page is sent. Without an expiration the
    /// longest storage counts from the first page.
    fileprivate func end(of expiration: Expiration) -> Timestamp {
        switch expiration {
        case .servicePolicy:
            self.progress.startedAt?.advanced(by: Expiration.longestStorage) ?? Timestamp(milliseconds: .max)
        case .immediate: Timestamp(milliseconds: .max)
        case .at(let seconds): Timestamp(seconds: seconds)
        }
    }

    /// Returns the clocks by which recipients expire: both for a named time and what counts from a start, the steady
    /// clock for the longest storage.
    func clocksOfExpiry(_ reading: ClockReading) -> ClockReading {
        let isOfPolicy = self.content.expiration == .servicePolicy && self.content.expiresIn == nil
        return isOfPolicy ? ClockReading(reading.steady) : reading
    }
}
