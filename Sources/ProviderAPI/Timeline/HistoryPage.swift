import Foundation
import ProviderModel
package import PushHTTP

/// A page of the merged history of several devices: deliveries and token events, each newest first.
struct HistoryPage {
    /// The number of entries after which each of the two lists, deliveries and token events, ends. All deliveries of
    /// one notification stay together, so a list may be slightly longer.
    let limit: Int
    let deliveriesBefore: NotificationCursor?
    let eventsBefore: Int64?
    /// The oldest notification that was searched, from which the next page continues, or `nil` if all were searched.
    let horizon: NotificationCursor?
    private var allDeliveries: [DeliveryKey: DeliveryRecord] = [:]
    private var allEvents: [TokenEventRecord] = []
    /// A Boolean value that indicates whether the store may have more deliveries than were added.
    private var hasMoreDeliveries = false
    private var hasMoreEvents = false

    private struct DeliveryKey: Hashable {
        var notification: UUID
        var recipient: Int64
    }

    /// Creates an empty page.
    /// - Parameters:
    ///   - cursor: The cursor at which the previous page ended, or `nil` for the first page.
    ///   - limit: The maximum number of entries of each list.
    ///   - horizon: The oldest notification that is searched, or `nil` to search all.
    init(after cursor: Cursor?, limit: Int, horizon: NotificationCursor? = nil) {
        self.horizon = horizon
        self.limit = max(1, limit)
        self.deliveriesBefore = cursor.map { NotificationCursor(number: $0.position) }
        self.eventsBefore = cursor?.second
    }

    /// Adds the newest deliveries of one device or token. If there are ``limit`` of them, the store may have more.
    mutating func add(_ deliveries: [DeliveryRecord]) {
        for delivery in deliveries {
            let key = DeliveryKey(notification: delivery.notification, recipient: delivery.recipient)
            self.allDeliveries[key] = delivery
        }
        if deliveries.count >= self.limit { self.hasMoreDeliveries = true }
    }

    /// Adds the newest events of one token. If there are ``limit`` of them, the store may have more.
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

    var events: [TokenEventRecord] { Array(self.allEvents.sorted { $0.id > $1.id }.prefix(self.limit)) }

    /// The cursor for the next page, or `nil` if this page is the last one.
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

/// The response body with a token's or a user's history. Deliveries and token events are each sorted newest first.
package struct HistoryResponse: ResponseObject {
    package let devices: [DeviceResponse]
    let page: HistoryPage

    package var deliveries: [DeliveryResponse] { self.page.deliveries.map(DeliveryResponse.init) }
    package var events: [TokenEventResponse] { self.page.events.map(TokenEventResponse.init) }
    package var next: String? { self.page.next?.text }

    package static let schemaName: String? = "History"
    package static let members: [ResponseMember<Self>] = [
        .required("devices", \.devices),
        .required("deliveries", \.deliveries),
        .required("tokenEvents", \.events),
        .optional("next", \.next, "The cursor of the next page, if either list continues."),
    ]
}
