import Foundation
import PushStore

/// A page of what happened to several devices: deliveries by their notification and token events, each newest first.
struct HistoryPage {
    /// What was asked for of each list. All deliveries of one notification stay together, so there may be a few more.
    let limit: Int
    let deliveriesBefore: NotificationCursor?
    let eventsBefore: Int64?
    /// The oldest notification that was looked at; `nil` for all.
    let horizon: NotificationCursor?
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

    /// - Parameters:
    ///   - cursor: where the page before ended.
    ///   - horizon: how far back deliveries are looked for.
    init(after cursor: Cursor?, limit: Int, horizon: NotificationCursor? = nil) {
        self.horizon = horizon
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
        let isFull = self.hasMoreDeliveries || deliveries.count < self.allDeliveries.count
        let next = (
            deliveries: (isFull ? deliveries.last?.position : self.horizon)?.number,
            events: self.hasMoreEvents || events.count < self.allEvents.count ? events.last?.id : nil
        )
        guard next.deliveries != nil || next.events != nil else { return nil }
        return Cursor(list: .history, position: next.deliveries ?? 0, second: next.events ?? 0)
    }
}
