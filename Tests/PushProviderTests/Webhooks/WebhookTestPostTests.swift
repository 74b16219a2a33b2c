import Foundation
import NIOHTTP1
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Test posts, and the signal that wakes webhook delivery.
@Suite(.timeLimit(.patience)) struct WebhookTestPostTests {
    private static func topic() throws -> Topic { try #require(Topic(Vectors.bundleID)) }

    @Test func aTestPostIsSignedAndMovesNothing() async throws {
        try await DeliveryFixture.run { fixture in
            fixture.store.addBlock(1...2)
            let result = await fixture.delivery.test(fixture.webhook, app: try Self.topic())
            #expect(result.status == 200)
            #expect(result.error == nil)
            let post = try #require(fixture.receiver.posts.first)
            let body = try JSONValue(parsing: post.body)
            #expect(body["events"].elements.map { $0["type"] } == ["test"])
            #expect(body["id"].stringValue == result.id)
            #expect(body["app"].stringValue == Vectors.bundleID)
            let secrets = WebhookSecret.all(in: fixture.webhook.secret)
            let signature = WebhookSignature.make(of: post.body, secrets: secrets, at: fixture.time.now)
            #expect(post.headers.first(name: WebhookSignature.header) == signature)
            #expect(fixture.record == fixture.webhook)
        }
    }

    @Test func theReceiversStatusIsTheResult() async throws {
        try await DeliveryFixture.run { fixture in
            fixture.receiver.script(.status(418))
            let result = await fixture.delivery.test(fixture.webhook, app: try Self.topic())
            #expect(result.status == 418)
            #expect(result.error == "the receiver responded with HTTP status 418")
            #expect(fixture.record?.failures == 0)
        }
    }

    @Test func aReceiverThatDoesNotRespondIsAnError() async throws {
        var limits = WebhookLimits()
        limits.deadline = .milliseconds(100)
        try await DeliveryFixture.run(limits: limits) { fixture in
            fixture.receiver.script(.unfinished(""))
            let result = await fixture.delivery.test(fixture.webhook, app: try Self.topic())
            #expect(result.status == nil)
            #expect(result.error == "no response: the receiver was too slow")
        }
    }

    /// The rules for addresses hold for tests too, and the error names the flag.
    @Test func aPrivateAddressIsNotTested() async throws {
        let resolver = ScriptedResolver(["10.0.0.1"])
        try await DeliveryFixture.run(
            host: "hooks.example.com",
            addresses: .init(allowsPlainHTTP: true),
            resolver: resolver
        ) {
            fixture in
            let result = await fixture.delivery.test(fixture.webhook, app: try Self.topic())
            #expect(result.status == nil)
            #expect(result.error?.contains("not allowed") == true)
            #expect(fixture.receiver.connections == 0)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aCommitWithEventsWakesTheDelivery(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            var webhook = WebhookRecord.fixture(port: 1)
            webhook.app = fixture.app
            try await fixture.store.addWebhook(webhook)
            let events = WakeSignal()
            let dispatcher = fixture.dispatcher(events: events)
            try await fixture.accept(["to": ["all": true]])
            try await fixture.settle(dispatcher)
            #expect(await events.wait(atMost: .seconds(3600)))
        }
    }

    @Test(arguments: [
        ("http://hooks.example.com/", "--allow-http-webhooks"), ("https://10.0.0.1/", "--allow-private-webhooks"),
        ("https://localhost/", "--allow-private-webhooks"),
        ("https://hooks.example.com:25/", "--allow-private-webhooks"),
    ])
    func theErrorOfAnAddressNamesTheFlag(url: String, flag: String) {
        do {
            _ = try WebhookAddress(url, policy: AddressPolicy())
            Issue.record("\(url) is allowed")
        } catch {
            #expect(error.message.contains(flag))
        }
    }
}
