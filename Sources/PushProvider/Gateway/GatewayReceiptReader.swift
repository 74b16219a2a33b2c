import Foundation
package import Logging
package import PushStore
import PushTypes
import ServiceLifecycle

/// Takes the deliveries that a gateway reports as receipts, so that the loop closes without an app.
///
/// It reads the gateway's events page by page from the place that is stored. A page is written before its place is: the
/// receipts of a page that is read twice have the same ids, and count once.
package struct GatewayReceiptReader: Service {
    /// The events of a page.
    static let page = 500
    /// The pause after a page that was not full.
    private static let pause: Duration = .seconds(1)
    /// The longest pause after a failure.
    private static let longestPause: Duration = .seconds(60)
    /// The names of the events with which a device has a push.
    private static let names: Set<String> = ["delivered", "delivered_from_storage"]

    private let gateway: GatewayEventClient
    private let store: any ReceiptStore
    private let writer: ReceiptWriter
    private let wake = WakeSignal()
    private let logger: Logger

    package init(gateway: GatewayEventClient, store: any ReceiptStore, writer: ReceiptWriter, logger: Logger) {
        (self.gateway, self.store, self.writer, self.logger) = (gateway, store, writer, logger)
    }

    /// Works until graceful shutdown.
    package func run() async throws {
        await self.wake.untilShutdown {
            var pause = Duration.milliseconds(1)
            var hasLogged = false
            while await self.wake.wait(atMost: pause) {
                do {
                    pause = try await self.readPage() ? .milliseconds(1) : Self.pause
                    hasLogged = false
                } catch {
                    pause = min(Self.longestPause, max(Self.pause, pause * 2))
                    guard !hasLogged else { continue }
                    hasLogged = true
                    let message: Logger.Message = "events of the gateway cannot be read, trying again until they can"
                    self.logger.warning(message, metadata: ["error": "\(error)"])
                }
            }
        }
    }

    /// Reads a page of events, and writes the receipts of those with which a device has a push of this provider.
    /// - Returns: `true` if there may be more.
    /// - Throws: ``GatewayEventsFailure``, ``BudgetRefusal``, ``StoreError``. The page is read again then.
    func readPage() async throws -> Bool {
        let cursor = try await self.store.gatewayCursor(self.gateway.url) ?? GatewayCursor(position: 0)
        let position = max(0, cursor.position)
        // The newest event that was read is in the page again: a gateway with nothing from it on, or with another event
        // in its place, numbers its events anew. It alone may be gone: old ones end, and a killed gateway loses some.
        let page = try await self.gateway.page(after: max(0, position - 1), limit: Self.page)
        let isNewLog =
            if page.count == 0 {
                position > 0
            } else {
                page.events.contains { $0.id == position && cursor.at != nil && cursor.at != $0.at }
            }
        guard !isNewLog else {
            self.logger.info("gateway has a new log of events, which is read from its start")
            try await self.store.setGatewayCursor(GatewayCursor(position: 0), of: self.gateway.url)
            return true
        }
        guard let last = page.last, last > position else { return false }
        // A receipt that is refused is another provider's, too late, or of a notification without receipts.
        let entries = page.events.filter { $0.id > position }.compactMap(Self.entry)
        _ = try await self.writer.write(ReceiptBatch(from: .gateway, privacy: .device, entries), app: "gateway")
        let read = GatewayCursor(position: last, at: page.events.first { $0.id == last }?.at)
        try await self.store.setGatewayCursor(read, of: self.gateway.url)
        return page.count >= Self.page
    }

    /// Returns the receipt of an event, whose id is the `apns-id`; `nil` for an event of another kind, and for the push
    /// of another sender.
    static func entry(_ event: GatewayEvent) -> ReceiptBatch.Entry? {
        guard Self.names.contains(event.name), let text = event.apnsID, let id = UUID(uuidString: text),
            let delivery = DeliveryID.parse(text)
        else { return nil }
        let receipt = IncomingReceipt(id: id, event: .delivered, at: event.at)
        return ReceiptBatch.Entry(receipt, of: .delivery(delivery.notification, recipient: delivery.recipient))
    }
}
