import Foundation
import Logging
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// The service with real receivers and the real clock.
@Suite(.timeLimit(.patience)) struct WebhookServiceTests {
    let store = MemoryWebhookStore()
    let wake = WakeSignal()

    @Test func everyWebhookReceivesEventsAndTheServiceEndsOnShutdown() async throws {
        try await ScriptedReceiver.run { receiver, port in
            for _ in 1...40 { self.store.addWebhook(.fixture(port: port)) }
            self.store.addBlock(1...3)
            try await withServices([self.delivery()]) {
                try await receiver.waitForPosts(40)
                self.store.addBlock(4...4)
                self.wake.signal()
                try await receiver.waitForPosts(80)
            }
            #expect(receiver.posts.count == 80)
            #expect(self.store.all.allSatisfy { $0.cursor == 2 })
        }
    }

    @Test func anUnreadableWebhookIsLoggedOnceAndOthersReceiveEvents() async throws {
        let store = MemoryWebhookStore(unreadable: ["broken"])
        let log = RecordedLog(level: .error)
        try await ScriptedReceiver.run { receiver, port in
            store.addWebhook(.fixture(port: port))
            store.addBlock(1...1)
            let delivery = WebhookDelivery(
                store: store,
                bundleID: { _ in Topic(Vectors.bundleID) },
                wake: self.wake,
                addresses: AddressPolicy(allowsPrivate: true),
                limits: Self.limits,
                places: Budget(.webhookPosts),
                retries: Budget(.webhookRetries),
                resolver: SystemResolver(BudgetRegistry()),
                time: SystemTime(),
                logger: log.logger
            )
            try await withServices([delivery]) {
                try await receiver.waitForPosts(1)
                for number in 2...4 {
                    store.addBlock(number...number)
                    self.wake.signal()
                    try await receiver.waitForPosts(number)
                }
            }
            #expect(log.lines.count == 1)
            #expect(log.lines.first?.contains("webhook=broken") == true)
        }
    }

    @Test func failuresAreRepeatedWithoutASignal() async throws {
        try await ScriptedReceiver.run { receiver, port in
            receiver.script(.status(500), .bytes("x"), .status(503))
            self.store.addWebhook(.fixture(port: port))
            self.store.addBlock(1...1)
            try await withServices([self.delivery()]) { try await receiver.waitForPosts(4) }
            #expect(receiver.numbers == [[1], [1], [1], [1]])
            #expect(self.store.all.first?.cursor == 1)
        }
    }

    @Test func aReceiverThatHangsDelaysNoOther() async throws {
        try await ScriptedReceiver.run { hanging, hangingPort in
            try await ScriptedReceiver.run { receiver, port in
                hanging.script(.unfinished(""), .unfinished(""))
                for _ in 1...2 { self.store.addWebhook(.fixture(port: hangingPort)) }
                for _ in 1...10 { self.store.addWebhook(.fixture(port: port)) }
                self.store.addBlock(1...1)
                // An app has three places of four.
                try await withServices([self.delivery(places: 4)]) {
                    try await hanging.waitForPosts(2)
                    try await receiver.waitForPosts(10)
                    self.store.addBlock(2...2)
                    self.wake.signal()
                    try await receiver.waitForPosts(20)
                    // One post at a time for each.
                    #expect(hanging.posts.count == 2)
                    hanging.disconnect()
                    // What was cut off, then what came meanwhile.
                    try await hanging.waitForPosts(6)
                }
                #expect(self.store.all.allSatisfy { $0.cursor == 2 })
            }
        }
    }

    @Test func shutdownLetsAPostInFlightFinish() async throws {
        try await ScriptedReceiver.run { receiver, port in
            self.store.addWebhook(.fixture(port: port))
            self.store.addBlock(1...1)
            receiver.script(.unfinished("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n"))
            try await withServices([self.delivery()]) { try await receiver.waitForPosts(1) }
            #expect(self.store.all.first?.cursor == 1)
        }
    }

    @Test func cancellationCutsAPostOffWithoutCountingIt() async throws {
        try await ScriptedReceiver.run { receiver, port in
            self.store.addWebhook(.fixture(port: port))
            self.store.addBlock(1...1)
            receiver.script(.unfinished(""))
            let delivery = self.delivery()
            let task = Task { try await delivery.run() }
            try await receiver.waitForPosts(1)
            task.cancel()
            try await task.value
            #expect(self.store.all.first?.failures == 0)
            #expect(self.store.all.first?.cursor == 0)
        }
    }

    private static var limits: WebhookLimits {
        var limits = WebhookLimits.patient
        limits.gathering = .milliseconds(1)
        limits.sleep = .seconds(3600)
        return limits
    }

    /// One app's webhooks whose receivers say nothing leave places for those of another.
    @Test func silentWebhooksOfAnAppLeavePlacesForOthers() async throws {
        try await ScriptedReceiver.run { silent, silentPort in
            try await ScriptedReceiver.run { receiver, port in
                for _ in 1...11 { silent.script(.unfinished("")) }
                for _ in 1...50 { self.store.addWebhook(.fixture(port: silentPort)) }
                self.store.addBlock(1...1)
                try await withServices([self.delivery()]) {
                    try await silent.waitForPosts(11)
                    for _ in 1...5 {
                        var webhook = WebhookRecord.fixture(port: port)
                        webhook.app = 2
                        self.store.addWebhook(webhook)
                    }
                    self.store.addBlock(1...1, app: 2)
                    self.wake.signal()
                    try await receiver.waitForPosts(5)
                    #expect(silent.posts.count == 11)
                    silent.disconnect()
                    try await silent.waitForPosts(61)
                }
            }
        }
    }

    private func delivery(places: Int = 16) -> WebhookDelivery {
        var budget = BudgetedResource.webhookPosts.row.limits
        budget.bounds.whole = .held(places)
        var policy = WebhookPolicy()
        policy.backoff = Backoff(base: .milliseconds(5), maximum: .milliseconds(20))
        return WebhookDelivery(
            store: self.store,
            bundleID: { Topic("\(Vectors.bundleID)\($0)") },
            wake: self.wake,
            addresses: AddressPolicy(allowsPrivate: true),
            limits: Self.limits,
            policy: policy,
            places: Budget(.webhookPosts, limits: budget),
            retries: Budget(.webhookRetries),
            resolver: SystemResolver(BudgetRegistry()),
            time: SystemTime(),
            logger: silentLogger
        )
    }
}
