import Foundation
package import Logging
import ProviderModel
package import PushStore
import ServiceLifecycle

/// Converts the deliveries that a gateway reports into receipts, so that there are receipts without code in the app.
///
/// It reads the gateway's events page by page from the stored position. The receipts of a page are written before its
/// position. If a page is read twice, its receipts have the same ids and count once.
package struct GatewayReceiptReader: Service {
    /// The maximum number of events in a page.
    static let page = 500
    /// The delay before the next page is read if the last page was not full.
    private static let pause: Duration = .seconds(1)
    /// The maximum delay after a failure. The delay doubles up to it while failures continue.
    private static let longestPause: Duration = .seconds(60)
    /// The names of the events that report the delivery of a push to a device.
    private static let names: Set<String> = ["delivered", "delivered_from_storage"]

    private let gateway: GatewayEventClient
    private let store: any ReceiptStore
    private let writer: ReceiptWriter
    private let wake = WakeSignal()
    private let logger: Logger

    package init(gateway: GatewayEventClient, store: any ReceiptStore, writer: ReceiptWriter, logger: Logger) {
        (self.gateway, self.store, self.writer, self.logger) = (gateway, store, writer, logger)
    }

    /// Reads events until graceful shutdown.
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

    /// Reads a page of events, and writes receipts for the deliveries of this provider's pushes.
    /// - Returns: `true` if there may be more events, and `false` otherwise.
    /// - Throws: ``GatewayEventsFailure``, ``BudgetRefusal`` or ``StoreError``. The next call then reads the page
    ///   again.
    func readPage() async throws -> Bool {
        let cursor = try await self.store.gatewayCursor(self.gateway.url) ?? GatewayCursor(position: 0)
        let position = max(0, cursor.position)
        // The page begins with the newest event that was read before. If the gateway has no event from there on, or
        // another one in its place, it has started to number its events anew. If only that event is missing, it was
        // deleted, or lost by a gateway that was killed.
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
        // A refused receipt belongs to another provider, is too late, or is of a notification without receipts.
        let entries = page.events.filter { $0.id > position }.compactMap(Self.entry)
        _ = try await self.writer.write(ReceiptBatch(from: .gateway, privacy: .device, entries), app: "gateway")
        let read = GatewayCursor(position: last, at: page.events.first { $0.id == last }?.at)
        try await self.store.setGatewayCursor(read, of: self.gateway.url)
        return page.count >= Self.page
    }

    /// Returns the receipt for an event, with the `apns-id` as its id, or `nil` for an event of another kind and for a
    /// push of another provider.
    static func entry(_ event: GatewayEvent) -> ReceiptBatch.Entry? {
        guard Self.names.contains(event.name), let text = event.apnsID, let id = UUID(uuidString: text),
            let delivery = DeliveryID.parse(text)
        else { return nil }
        let receipt = IncomingReceipt(id: id, event: .delivered, at: event.at)
        return ReceiptBatch.Entry(receipt, of: .delivery(delivery.notification, recipient: delivery.recipient))
    }
}
