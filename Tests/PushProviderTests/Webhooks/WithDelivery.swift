import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization

@testable import PushProvider

/// One webhook, its receiver, its events and a delivery with a manual clock.
struct DeliveryFixture: Sendable {
    let receiver: ScriptedReceiver
    let store: MemoryWebhookStore
    let delivery: WebhookDelivery
    let webhook: WebhookRecord
    let time: ManualTime

    var record: WebhookRecord? { self.store.webhook(self.webhook.id) }

    @discardableResult
    func postEvents() async -> WebhookDelivery.RunEnd {
        await self.delivery.postEvents(to: self.webhook.id)
    }

    /// Long enough for any back-off.
    func waitForNextTry() {
        self.time.advance(by: .seconds(3601))
    }

    static func run(
        host: String = "127.0.0.1",
        addresses: AddressPolicy = AddressPolicy(allowsPrivate: true),
        resolver: any NameResolver = SystemResolver(BudgetRegistry()),
        limits: WebhookLimits = .patient,
        _ body: (DeliveryFixture) async throws -> Void
    ) async throws {
        try await ScriptedReceiver.run { receiver, port in
            let time = ManualTime()
            let store = MemoryWebhookStore()
            let webhook = WebhookRecord.fixture(port: port, host: host)
            store.addWebhook(webhook)
            let delivery = WebhookDelivery(
                store: store,
                bundleID: { _ in Topic(Vectors.bundleID) },
                wake: WakeSignal(),
                addresses: addresses,
                limits: limits,
                places: Budget(.webhookPosts),
                retries: Budget(.webhookRetries),
                resolver: resolver,
                time: time,
                logger: silentLogger
            )
            try await body(
                DeliveryFixture(receiver: receiver, store: store, delivery: delivery, webhook: webhook, time: time)
            )
        }
    }
}

/// A resolver with too many look-ups.
struct BusyResolver: NameResolver {
    func addresses(of name: String, within limit: Duration) throws -> [IPAddress] {
        throw NameResolutionFailure.busy
    }
}

/// A resolver with scripted results. The last one repeats.
final class ScriptedResolver: NameResolver {
    private let answers: Mutex<[[String]]>
    private let count = Mutex(0)

    init(_ answers: [String]...) {
        self.answers = Mutex(answers)
    }

    var lookUps: Int { self.count.withLock { $0 } }

    func addresses(of name: String, within limit: Duration) throws -> [IPAddress] {
        self.count.withLock { $0 += 1 }
        let next = self.answers.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? [] }
        guard !next.isEmpty else { throw NameResolutionFailure.unknown(reason: "no such name") }
        return next.compactMap { IPAddress($0) }
    }
}
