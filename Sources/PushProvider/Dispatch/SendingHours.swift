import Foundation
import PushStore
import PushSupport
import PushTypes

/// When the recipients of a shard may be sent to.
///
/// A shard of a time zone has one answer for all. Whoever is left over when all zones have been walked has moved
/// between them meanwhile, and is asked for one by one.
struct SendingHours {
    private let delivery: DeliveryTime?
    private let zone: ShardPlan.Zone
    private let acceptedAt: Timestamp

    init(_ claim: ShardClaim, _ notification: PreparedNotification) {
        self.delivery = notification.delivery
        self.zone = claim.zone
        self.acceptedAt = notification.record.createdAt
    }

    /// When the shard goes on: `moment`, or later.
    func opening(onOrAfter moment: Timestamp) -> Timestamp {
        switch self.zone {
        case .leftOver: moment
        case .named(let name): self.opening(onOrAfter: moment, in: TimeZone(named: name))
        case .any, .unknown: self.opening(onOrAfter: moment, in: nil)
        }
    }

    private func opening(onOrAfter moment: Timestamp, in zone: TimeZone?) -> Timestamp {
        self.delivery?.opening(onOrAfter: moment, for: zone) ?? moment
    }

    /// What is to be done with these now. Those that the request leaves out, because the time had passed where they are,
    /// are not in it.
    func work(_ page: RecipientPage, at clocks: ClockReading) -> PageWork {
        guard self.zone == .leftOver, let delivery = self.delivery else {
            return PageWork(page, recipients: page.recipients)
        }
        var work = PageWork(page, recipients: [])
        for recipient in page.recipients {
            let zone = recipient.timeZone
            guard let start = delivery.start(for: zone, acceptedAt: self.acceptedAt) else { continue }
            work.add(recipient, at: delivery.opening(onOrAfter: max(start, clocks.wall), for: zone), clocks)
        }
        return work
    }
}
