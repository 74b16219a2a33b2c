import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTypes

/// The times at which pushes may be sent to the recipients of a shard.
///
/// All devices in the shard of a time zone have the same times. The last shard contains the devices that moved between
/// time zones meanwhile, each with its own times.
struct SendingHours {
    private let notification: PreparedNotification
    private var delivery: DeliveryTime? { self.notification.record.delivery }
    private let zone: ShardPlan.Zone

    init(_ claim: ShardClaim, _ notification: PreparedNotification) {
        self.notification = notification
        self.zone = claim.zone
    }

    /// Returns the earliest time, not before `start`, at which sending the shard may continue.
    func opening(onOrAfter start: Timestamp) -> Timestamp {
        let zone: TimeZone?
        switch self.zone {
        case .remainder: return start
        case .named(let name): zone = TimeZone(named: name)
        case .any, .unknown: zone = nil
        }
        return self.delivery?.opening(onOrAfter: start, for: zone) ?? start
    }

    /// Returns the work on a page: recipients to send to, to postpone and to skip. If the request says so, it omits
    /// those whose local time had passed at acceptance.
    func work(_ page: RecipientPage, at clocks: ClockReading) -> PageWork {
        guard self.zone == .remainder, let delivery = self.delivery else {
            var work = PageWork(page, recipients: page.recipients)
            work.skipUnwanted(self.notification, at: clocks)
            return work
        }
        var work = PageWork(page, recipients: [])
        for recipient in page.recipients {
            let zone = recipient.timeZone
            guard let start = delivery.start(for: zone, acceptedAt: self.notification.record.createdAt) else {
                continue
            }
            work.add(recipient, at: delivery.opening(onOrAfter: max(start, clocks.wall), for: zone), clocks)
        }
        work.skipUnwanted(self.notification, at: clocks)
        return work
    }
}
