import Foundation
import PushStore

/// A page of what happened to several devices: deliveries by their notification and token events, each newest first.
struct HistoryPage {
    /// What was asked for of each list. All deliveries of one notification stay together, so there may be a few more.
    let limit: Int
    let deliveriesBefore: NotificationCursor?
    let eventsBefore: Int64?
    /// Without those that were found twice.
    private var allDeliveries: [DeliveryKey: DeliveryRecord] = [:]
    private var allEvents: [TokenEventRecord] = []
    /// Whether one of the lists that were added goes on.
    private var hasMoreDeliveries = false
    private var hasMoreEvents = false

    private struct DeliveryKey: Hashable {
        var notification: UUID
        var recipient: Int64
    }

    /// - Parameter cursor: where the page before ended.
    init(after cursor: Cursor?, limit: Int) {
        self.limit = max(1, limit)
        self.deliveriesBefore = cursor.map { NotificationCursor(number: $0.position) }
        self.eventsBefore = cursor?.second
    }

    /// The newest ones of one device or token, as many as ``limit`` if it has them.
    mutating func add(_ deliveries: [DeliveryRecord]) {
        for delivery in deliveries {
            let key = DeliveryKey(notification: delivery.notification, recipient: delivery.recipient)
            self.allDeliveries[key] = delivery
        }
        if deliveries.count >= self.limit { self.hasMoreDeliveries = true }
    }

    mutating func add(_ events: [TokenEventRecord]) {
        self.allEvents += events
        if events.count >= self.limit { self.hasMoreEvents = true }
    }

    var deliveries: [DeliveryRecord] {
        let sorted = self.allDeliveries.values.sorted {
            ($0.position.number, $0.at, $0.recipient) > ($1.position.number, $1.at, $1.recipient)
        }
        guard sorted.count > self.limit else { return sorted }
        let last = sorted[self.limit - 1].position
        return Array(sorted.prefix { $0.position.number >= last.number })
    }

    var events: [TokenEventRecord] {
        Array(self.allEvents.sorted { $0.id > $1.id }.prefix(self.limit))
    }

    /// Where the next page begins; `nil` after the last one.
    var next: Cursor? {
        let (deliveries, events) = (self.deliveries, self.events)
        let goesOn = (
            deliveries: self.hasMoreDeliveries || deliveries.count < self.allDeliveries.count,
            events: self.hasMoreEvents || events.count < self.allEvents.count
        )
        guard goesOn.deliveries || goesOn.events else { return nil }
        return Cursor(
            list: .history,
            position: goesOn.deliveries ? deliveries.last?.position.number ?? 0 : 0,
            second: goesOn.events ? events.last?.id ?? 0 : 0
        )
    }
}
