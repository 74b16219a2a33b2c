import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// Changes of a webhook while posts are in flight.
@Suite(.timeLimit(.patience)) struct WebhookChangeTests {
    /// Each changes a part of its own, and finds what was answered until it changes it again.
    @Test(arguments: StoreBackend.available, [200, 503])
    func noChangeIsUndoneByABusyDelivery(backend: StoreBackend, status: Int) async throws {
        try await backend.withStore { store, app in
            try await ScriptedReceiver.run { receiver, port in
                var webhook = WebhookRecord.fixture(port: port)
                webhook.app = app
                webhook.events = [.delivery, .token]
                try await store.addWebhook(webhook)
                // Told again and again: every turn has something to post.
                try await Self.addEvents(store, app)
                if status != 200 { receiver.script(.status(status), .status(status), .status(status)) }
                let delivery = Self.delivery(store)
                let (id, url) = (webhook.id, webhook.url)
                let end = End()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        repeat {
                            _ = await delivery.postEvents(to: id)
                            var again = WebhookChange()
                            again.cursor = 0
                            _ = try await store.changeWebhook(id, again)
                        } while !end.isThere.withLock { $0 }
                    }
                    group.addTask {
                        // Also after an error, as the group waits for the other task.
                        defer { end.isThere.withLock { $0 = true } }
                        try await withThrowingTaskGroup(of: Void.self) { people in
                            people.addTask { try await Self.changeURL(store, id, url) }
                            people.addTask { try await Self.rotate(store, id) }
                            people.addTask { try await Self.changeEvents(store, id) }
                            try await people.waitForAll()
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(receiver.posts.count > 0)
            }
        }
    }

    private static let changes = 60

    private static func changeURL(_ store: any ProviderStore, _ id: UUID, _ url: String) async throws {
        for number in 0..<Self.changes {
            var change = WebhookChange()
            change.url = "\(url)&n=\(number)"
            #expect(try await store.changeWebhook(id, change)?.url == change.url)
            #expect(try await store.webhook(id)?.url == change.url)
        }
    }

    private static func rotate(_ store: any ProviderStore, _ id: UUID) async throws {
        for _ in 0..<Self.changes {
            let new = WebhookSecret.make()
            var change = WebhookChange()
            change.signing = .add(new)
            _ = try await store.changeWebhook(id, change)
            #expect(try await store.webhook(id).map { WebhookSecret.newest(of: $0.secret) } == new)
        }
    }

    private static func changeEvents(_ store: any ProviderStore, _ id: UUID) async throws {
        for number in 0..<Self.changes {
            var change = WebhookChange()
            change.events = number.isMultiple(of: 2) ? [.delivery] : [.delivery, .token]
            _ = try await store.changeWebhook(id, change)
            #expect(try await store.webhook(id)?.events == change.events)
        }
    }

    private static func addEvents(_ store: any ProviderStore, _ app: Int64) async throws {
        _ = try await store.start(app: app, to: .tokens([.numbered(1)]))
        let claim = try await store.claimed()
        for number in 1...3 {
            try await store.commit(claim) { $0.events = Data(#"{"n":\#(number)}"#.utf8) }
        }
    }

    private static func delivery(_ store: any ProviderStore) -> WebhookDelivery {
        var policy = WebhookPolicy()
        policy.backoff = Backoff(base: .zero, maximum: .zero)
        return WebhookDelivery(
            store: store,
            bundleID: { _ in Topic(Vectors.bundleID) },
            wake: WakeSignal(),
            addresses: AddressPolicy(allowsPrivate: true),
            limits: .patient,
            policy: policy,
            places: Budget(.webhookPosts),
            retries: Budget(.webhookRetries),
            resolver: SystemResolver(BudgetRegistry()),
            time: ManualTime(),
            logger: silentLogger
        )
    }
}

/// Set once all is done.
private final class End: Sendable {
    let isThere = Mutex(false)
}
