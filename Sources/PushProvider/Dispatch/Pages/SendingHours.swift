import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTypes

/// The times at which the recipients of a shard may be sent to.
///
/// All devices in the shard of a time zone have the same times. The last shard has the devices that moved between time zones
/// meanwhile, each with its own times.
struct SendingHours {
    private let notification: PreparedNotification
    private var delivery: DeliveryTime? { self.notification.record.delivery }
    private let zone: ShardPlan.Zone

    init(_ claim: ShardClaim, _ notification: PreparedNotification) {
        self.notification = notification
        self.zone = claim.zone
    }

    /// Returns the time at which sending the shard may continue, `start` or later.
    func opening(onOrAfter start: Timestamp) -> Timestamp {
        let zone: TimeZone?
        switch self.zone {
        case .remainder: return start
        case .named(let name): zone = TimeZone(named: name)
        case .any, .unknown: zone = nil
        }
        return self.delivery?.opening(onOrAfter: start, for: zone) ?? start
    }

    /// Returns the work on a page. It omits recipients whose local time had passed at acceptance, if the request excludes those.
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
