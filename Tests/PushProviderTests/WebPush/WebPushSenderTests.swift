import Foundation
import NIOHTTP1
import PushSender
import PushSupport
import PushTesting
import PushTypes
import PushWire
import Synchronization
import Testing

@testable import PushProvider

/// Sending to browsers, with a push service in the test.
@Suite(.timeLimit(.patience)) struct WebPushSenderTests {
    private struct Fixture {
        let service: BrowserPushService
        let subscriptions: FixedSubscriptions
        let senders: WebPushSenderFactory
        let time: ManualTime

        func browser(_ path: String) throws -> (Browser, DeviceToken) {
            let browser = Browser(at: self.service.url(path))
            return (browser, try self.subscriptions.add(browser))
        }

        func send(_ tokens: DeviceToken..., collapseID: String? = nil, payload: String = #"{"title":"Hi"}"#)
            async throws
            -> [Outcome]
        {
            let pushes = try tokens.map { try self.push(to: $0, collapseID: collapseID, payload: payload) }
            let sender = try #require(self.senders.senders(app: 1).usable[.production])
            return await sender.send(pushes)
        }

        func push(to token: DeviceToken, collapseID: String? = nil, payload: String = #"{"title":"Hi"}"#) throws -> Push
        {
            let topic = try #require(Topic(Vectors.bundleID))
            let notification = PushNotification(
                id: "an-id",
                topic: topic,
                priority: .powerAware,
                expiration: .at(seconds: Vectors.issuedAt.seconds + 60),
                collapseID: collapseID,
                payload: payload
            )
            return Push(notification, to: token)
        }
    }

    private func withFixture(
        addresses: AddressPolicy = AddressPolicy(allowsPrivate: true),
        limits: WebPushLimits = .patient,
        _ body: (Fixture) async throws -> Void
    ) async throws {
        try await BrowserPushService.run { service in
            let (subscriptions, time) = (FixedSubscriptions(), ManualTime())
            let senders = WebPushSenderFactory(
                store: subscriptions,
                addresses: addresses,
                resolver: SystemResolver(BudgetRegistry()),
                limits: limits,
                time: time
            )
            let fixture = Fixture(service: service, subscriptions: subscriptions, senders: senders, time: time)
            do {
                try await body(fixture)
            } catch {
                await senders.close()
                throw error
            }
            await senders.close()
        }
    }

    @Test func aMessageArrivesSealedAndSigned() async throws {
        try await self.withFixture { fixture in
            let (browser, token) = try fixture.browser("/push/1")
            #expect(try await fixture.send(token, collapseID: "inbox") == [.accepted(.init(id: "an-id"))])
            let post = try #require(fixture.service.posts.first)
            #expect(post.method == "POST" && post.path == "/push/1")
            #expect(browser.read(post.body) == ["title": "Hi"])
            #expect(post.headers["ttl"] == ["60"])
            #expect(post.headers["urgency"] == ["normal"])
            #expect(post.headers["content-encoding"] == ["aes128gcm"])
            #expect(post.headers["topic"] == [WebPushMessage.topic("inbox")])
            let credential = try #require(VAPIDCredential(authorization: post.headers["authorization"].first))
            let origin = try #require(WebOrigin(browser.endpoint))
            try credential.check(key: fixture.subscriptions.key.publicKey, origin: origin, now: fixture.time.now)
        }
    }

    @Test func everyAnswerIsAnOutcome() async throws {
        try await self.withFixture { fixture in
            let (_, good) = try fixture.browser("/good")
            let (_, gone) = try fixture.browser("/gone")
            let (_, busy) = try fixture.browser("/busy")
            let (_, other) = try fixture.browser("/other")
            fixture.service.script("/good", .init(201, headers: [("apns-id", "its-id")]))
            fixture.service.script("/gone", .init(410))
            fixture.service.script("/busy", .init(500))
            fixture.service.script("/other", .init(403, body: #"{"reason":"VapidPkHashMismatch"}"#))
            let unknown = DeviceToken.numbered(1)
            let outcomes = try await fixture.send(good, gone, busy, other, unknown)
            #expect(outcomes.first == .accepted(.init(id: "its-id")))
            let advice = outcomes.dropFirst().map { outcome -> Rejection.Advice? in
                if case .rejected(let rejection) = outcome { rejection.advice } else { nil }
            }
            #expect(advice == [.dropToken, .retry(after: nil), .fixNotification, .fixNotification])
            #expect(fixture.service.posts.count == 4)
        }
    }

    /// A stop reaches the messages that wait for their turn at a push service; the one in flight is counted.
    @Test func whatWaitsForItsTurnIsTakenBack() async throws {
        var limits = WebPushLimits.patient
        limits.inFlight = 1
        try await self.withFixture(limits: limits) { fixture in
            let pushes = try (0..<3).map { number in
                fixture.service.script("/\(number)", .silence)
                return try fixture.push(to: try fixture.browser("/\(number)").1)
            }
            let sender = try #require(fixture.senders.senders(app: 1).usable[.production])
            let call = Mutex<(any PushCall)?>(nil)
            let sending = Task { await sender.follow(pushes) { began in call.withLock { $0 = began } } }
            try await fixture.service.waitForPosts(1)
            #expect(call.withLock { $0 }?.takeBack { _ in true } == 1)
            sending.cancel()
            let outcomes = await sending.value.outcomes
            #expect(outcomes.count == 3 && fixture.service.posts.count == 1)
            #expect(outcomes.filter { if case .notSent = $0 { true } else { false } }.count == 2)
        }
    }

    @Test func aRedirectionIsNotFollowed() async throws {
        try await self.withFixture { fixture in
            let (_, token) = try fixture.browser("/moved")
            fixture.service.script("/moved", .init(302, headers: [("location", fixture.service.url("/elsewhere"))]))
            let outcomes = try await fixture.send(token)
            #expect(outcomes == [.rejected(Rejection(status: 400, reasonText: "HTTP status 302"))])
            #expect(fixture.service.posts.map(\.path) == ["/moved"])
        }
    }

    @Test func privateAddressesAreNotSentTo() async throws {
        try await self.withFixture(addresses: AddressPolicy()) { fixture in
            let (_, token) = try fixture.browser("/push/1")
            guard case .rejected(let rejection)? = try await fixture.send(token).first else {
                Issue.record("it was sent")
                return
            }
            #expect(rejection.advice == .fixNotification)
            #expect(!rejection.reasonText.contains("127.0.0.1"))
            #expect(fixture.service.posts.isEmpty)
        }
    }

    @Test func aPauseHoldsBackItsPushServiceOnly() async throws {
        try await self.withFixture { fixture in
            try await BrowserPushService.run { other in
                let (_, busy) = try fixture.browser("/busy")
                let (_, next) = try fixture.browser("/next")
                let elsewhere = try fixture.subscriptions.add(Browser(at: other.url("/x")))
                fixture.service.script("/busy", .init(429, headers: [("retry-after", "30")]))
                _ = try await fixture.send(busy)
                guard case .notSent? = try await fixture.send(next).first else {
                    Issue.record("it was sent during the pause")
                    return
                }
                #expect(try await fixture.send(elsewhere) == [.accepted(.init(id: "an-id"))])
                fixture.time.advance(by: .seconds(30))
                #expect(try await fixture.send(next) == [.accepted(.init(id: "an-id"))])
            }
        }
    }

    @Test func aPauseOutlivesTheLookUpOfTheName() async throws {
        try await self.withFixture { fixture in
            let (_, busy) = try fixture.browser("/busy")
            let (_, next) = try fixture.browser("/next")
            fixture.service.script("/busy", .init(429, headers: [("retry-after", "600")]))
            _ = try await fixture.send(busy)
            fixture.time.advance(by: WebPushLimits().addressLifetime + .seconds(1))
            guard case .notSent? = try await fixture.send(next).first else {
                Issue.record("it was sent during the pause")
                return
            }
            fixture.time.advance(by: .seconds(300))
            #expect(try await fixture.send(next) == [.accepted(.init(id: "an-id"))])
        }
    }

    @Test func aSilentPushServiceIsGivenUp() async throws {
        try await withGrowingLimit { limit in
            var limits = WebPushLimits.patient
            limits.deadline = limit
            var outcome: Outcome?
            var isAsked = false
            try await self.withFixture(limits: limits) { fixture in
                let (_, silent) = try fixture.browser("/silent")
                fixture.service.script("/silent", .silence)
                outcome = try await fixture.send(silent).first
                isAsked = !fixture.service.posts.isEmpty
            }
            guard isAsked else { return false }
            if case .unknown? = outcome { return true }
            Issue.record("\(String(describing: outcome))")
            return true
        }
    }

    @Test func nothingIsSentWithoutAConnection() async throws {
        let port = try RefusingPort()
        try await self.withFixture { fixture in
            let token = try fixture.subscriptions.add(Browser(at: "http://127.0.0.1:\(port.number)/x"))
            guard case .notSent? = try await fixture.send(token).first else {
                Issue.record("there is no push service")
                return
            }
        }
        withExtendedLifetime(port) {}
    }

    @Test func aStoreThatFailsLosesNothing() async throws {
        try await self.withFixture { fixture in
            let (_, token) = try fixture.browser("/push/1")
            fixture.subscriptions.fail()
            #expect(try await fixture.send(token) == [.notSent(.init("the subscriptions cannot be read"))])
        }
    }

    @Test func manyMessagesShareAFewConnections() async throws {
        try await self.withFixture { fixture in
            let (browser, token) = try fixture.browser("/push/1")
            let topic = try #require(Topic(Vectors.bundleID))
            let sender = try #require(fixture.senders.senders(app: 1).usable[.production])
            let pushes = (0..<200).map { number in
                Push(PushNotification(id: "\(number)", topic: topic, payload: "{\"n\":\(number)}"), to: token)
            }
            let outcomes = await sender.send(pushes)
            #expect(outcomes == (0..<200).map { .accepted(.init(id: "\($0)")) })
            let numbers = fixture.service.posts.compactMap { browser.read($0.body)["n"].integerValue }
            #expect(numbers.sorted() == Array(0..<200))
        }
    }
}
