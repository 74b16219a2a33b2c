import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTypes

/// The expirations of the recipients of one claim.
///
/// An `expiresIn` counts from a recipient's start: the acceptance, or the first moment at which its time zone may be sent to.
/// All recipients of a time zone's shard expire at the same time. Those of retries and of the last shard expire one by one.
struct RecipientExpiry: Sendable {
    /// The expiration of all recipients; `nil` where it depends on the time zone of each.
    let common: Expiration?
    let record: NotificationRecord

    /// - Parameter zone: The time zone of the shard's devices; `nil` for retries, which may be of any zone.
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

    /// The time at which all recipients expire; `nil` if each has its own.
    var commonEnd: Timestamp? { self.common.map(self.record.end) }
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

    /// Returns the time at which an expiration ends.
    ///
    /// A notification that is not to be stored is tried whenever its page is sent. Without an expiration, the maximum storage
    /// time counts from the first page.
    fileprivate func end(of expiration: Expiration) -> Timestamp {
        switch expiration {
        case .servicePolicy:
            self.progress.startedAt?.advanced(by: Expiration.longestStorage) ?? Timestamp(milliseconds: .max)
        case .immediate: Timestamp(milliseconds: .max)
        case .at(let seconds): Timestamp(seconds: seconds)
        }
    }

    /// Returns the clocks by which recipients expire: both clocks for a time and for a duration from the start, and only the
    /// steady clock for the maximum storage time.
    func clocksOfExpiry(_ reading: ClockReading) -> ClockReading {
        let isOfPolicy = self.content.expiration == .servicePolicy && self.content.expiresIn == nil
        return isOfPolicy ? ClockReading(reading.steady) : reading
    }
}
