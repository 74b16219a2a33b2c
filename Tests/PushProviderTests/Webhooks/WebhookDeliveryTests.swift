import Foundation
import NIOHTTP1
import ProviderModel
import PushStore
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// One webhook turn by turn, with a real receiver and a manual clock.
@Suite(.timeLimit(.patience)) struct WebhookDeliveryTests {
    @Test func eventsArriveOnceInOrderAndSigned() async throws {
        try await DeliveryFixture.run { fixture in
            fixture.store.addBlock(1...2)
            fixture.store.addBlock(3...3, kind: .token)
            #expect(await fixture.postEvents() == .idle)
            #expect(await fixture.postEvents() == .idle)
            let post = try #require(fixture.receiver.posts.first)
            #expect(fixture.receiver.numbers == [[1, 2, 3]])
            #expect(post.method == .POST)
            #expect(post.target == "/hook?key=1")
            #expect(post.headers.first(name: "content-type") == "application/json")
            let header = try #require(post.headers.first(name: "martlet-signature"))
            let (secret, now) = (fixture.webhook.secret, fixture.time.now)
            #expect(WebhookSignature.verify(header, of: post.body, secret: secret, now: now))
            let body = try #require(try JSONSerialization.jsonObject(with: post.body) as? [String: Any])
            #expect(body["id"] as? String == "\(fixture.webhook.id.uuidString.lowercased()).1-2")
            #expect(body["app"] as? String == Vectors.bundleID)
            #expect(fixture.record?.cursor == 2)
            #expect(fixture.record?.lastSuccessAt == now)
        }
    }

    @Test func aPostThatFailedIsRepeatedAsItWas() async throws {
        try await DeliveryFixture.run { fixture in
            fixture.receiver.script(.status(500), .status(503, headers: "retry-after: 1000\r\n"))
            fixture.store.addBlock(1...2)
            #expect(await fixture.postEvents() == .failed)
            fixture.store.addBlock(3...3)
            fixture.waitForNextTry()
            #expect(await fixture.postEvents() == .failed)
            #expect(fixture.record?.nextTryAt == fixture.time.now.advanced(by: .seconds(1000)))
            #expect(await fixture.postEvents() == .idle)
            fixture.waitForNextTry()
            #expect(await fixture.postEvents() == .idle)
            #expect(fixture.receiver.numbers == [[1, 2], [1, 2], [1, 2], [3]])
            #expect(Set(fixture.receiver.posts.prefix(3).map(\.body)).count == 1)
            #expect(fixture.record?.failures == 0)
            #expect(fixture.record?.cursor == 2)
        }
    }

    /// Other names keep the provider's resolver busy, which is not the receiver's fault.
    @Test func aNameThatIsNotLookedUpIsNoFailureOfTheReceiver() async throws {
        try await DeliveryFixture.run(host: "receiver.example", resolver: BusyResolver()) { fixture in
            fixture.store.addBlock(1...1)
            for _ in 0..<3 {
                #expect(await fixture.postEvents() == .failed)
                #expect(fixture.record?.failures == 0)
                #expect(fixture.record?.lastError?.hasPrefix("not posted: ") == true)
                fixture.waitForNextTry()
            }
            #expect(fixture.record?.cursor == 0)
            #expect(fixture.receiver.connections == 0)
        }
    }

    @Test func nothingIsLostWhenTheReceiverFailsInTheMiddle() async throws {
        try await DeliveryFixture.run { fixture in
            let filler = String(repeating: "x", count: WebhookBatch.maximumLength / 2)
            for number in 1...9 { fixture.store.addBlock(#"{"n":\#(number),"filler":"\#(filler)"}"#) }
            fixture.receiver.script(
                .status(200),
                .status(500),
                .bytes("HTTP/1.1 20"),
                .status(204),
                .status(429),
                .bytes(""),
                .status(302)
            )
            var turns = 0
            while fixture.record?.cursor != 9, turns < 20 {
                _ = await fixture.postEvents()
                fixture.waitForNextTry()
                turns += 1
            }
            #expect(fixture.receiver.numbers == [[1], [2], [2], [2], [3], [3], [3], [3], [4], [5], [6], [7], [8], [9]])
        }
    }

    @Test func aRunEndsSoThatOthersHaveTheirs() async throws {
        var limits = WebhookLimits.patient
        limits.postsPerRun = 2
        try await DeliveryFixture.run(limits: limits) { fixture in
            let filler = String(repeating: "x", count: WebhookBatch.maximumLength)
            for number in 1...3 { fixture.store.addBlock(#"{"n":\#(number),"filler":"\#(filler)"}"#) }
            #expect(await fixture.postEvents() == .more)
            #expect(fixture.receiver.numbers == [[1], [2]])
            #expect(fixture.receiver.connections == 1)
            #expect(await fixture.postEvents() == .idle)
            #expect(fixture.receiver.numbers == [[1], [2], [3]])
        }
    }

    @Test(arguments: [
        "", "\r\n\r\n", "garbage\r\n\r\n", "HTTP/1.1 ", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 99999 x\r\n\r\n",
        "HTTP/9.9 200 OK\r\n\r\n", "\u{0}\u{1}\u{2}", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nretry-after: soon\r\n\r\n", "HTTP/1.1 500 Error\r\n\r\n",
        "HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: 100_000) + "\r\n",
    ])
    func aStatusOtherThan2xxIsAFailure(answer: String) async throws {
        try await DeliveryFixture.run { fixture in
            fixture.receiver.script(.bytes(answer))
            fixture.store.addBlock(1...1)
            #expect(await fixture.postEvents() == .failed)
            #expect(fixture.record?.failures == 1)
            #expect(fixture.record?.cursor == 0)
            #expect(fixture.record?.lastError != nil)
            fixture.waitForNextTry()
            #expect(await fixture.postEvents() == .idle)
            #expect(fixture.record?.cursor == 1)
        }
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 100 Continue\r\n\r\n"])
    func aReceiverThatDoesNotRespondFailsAtTheDeadline(answer: String) async throws {
        var limits = WebhookLimits()
        limits.deadline = .milliseconds(100)
        try await DeliveryFixture.run(limits: limits) { fixture in
            fixture.receiver.script(.unfinished(answer))
            fixture.store.addBlock(1...1)
            #expect(await fixture.postEvents() == .failed)
            #expect(fixture.record?.lastError?.hasPrefix("no response: ") == true)
        }
    }

    @Test func theStatusCountsEvenIfTheBodyFails() async throws {
        try await DeliveryFixture.run { fixture in
            fixture.receiver.script(.unfinished("HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\nx"))
            fixture.store.addBlock(1...1)
            #expect(await fixture.postEvents() == .idle)
            #expect(fixture.record?.cursor == 1)
        }
    }

    @Test func aRedirectIsNotFollowed() async throws {
        try await ScriptedReceiver.run { other, port in
            try await DeliveryFixture.run { fixture in
                fixture.receiver.script(.status(307, headers: "location: http://127.0.0.1:\(port)/\r\n"))
                fixture.store.addBlock(1...1)
                #expect(await fixture.postEvents() == .failed)
                #expect(fixture.record?.lastError == "the receiver responded with HTTP status 307")
                #expect(other.connections == 0)
            }
        }
    }

    @Test func aReceiverThatIsGoneIsNotAskedAgain() async throws {
        try await DeliveryFixture.run { fixture in
            fixture.receiver.script(.status(410))
            fixture.store.addBlock(1...1)
            #expect(await fixture.postEvents() == .failed)
            fixture.waitForNextTry()
            #expect(await fixture.postEvents() == .idle)
            #expect(fixture.receiver.posts.count == 1)
            #expect(fixture.record?.isActive == false)
        }
    }

    @Test func nothingIsPostedWithoutASignature() async throws {
        try await DeliveryFixture.run { fixture in
            fixture.store.change(fixture.webhook.id) { $0.secret = " " }
            fixture.store.addBlock(1...1)
            #expect(await fixture.postEvents() == .failed)
            #expect(fixture.receiver.connections == 0)
        }
    }

    @Test func httpsIsNotSpokenInTheClear() async throws {
        var limits = WebhookLimits()
        limits.deadline = .milliseconds(100)
        try await DeliveryFixture.run(limits: limits) { fixture in
            fixture.store.change(fixture.webhook.id) { $0.url = $0.url.replacing("http://", with: "https://") }
            fixture.store.addBlock(1...1)
            #expect(await fixture.postEvents() == .failed)
            #expect(fixture.receiver.posts.isEmpty)
            #expect(fixture.record?.cursor == 0)
        }
    }

    @Test func emptyBlocksArePassedOver() async throws {
        try await DeliveryFixture.run { fixture in
            fixture.store.addBlock("")
            #expect(await fixture.postEvents() == .idle)
            #expect(fixture.record?.cursor == 1)
            #expect(fixture.receiver.connections == 0)
        }
    }

    /// It was signed with what counted before the change was answered.
    @Test func aChangeEndsThePostInFlight() async throws {
        try await DeliveryFixture.run { fixture in
            fixture.receiver.script(.unfinished("HTTP/1.1 200 OK\r\n"))
            fixture.store.addBlock(1...1)
            async let turn = fixture.postEvents()
            try await fixture.receiver.waitForPosts(1)
            fixture.store.addBlock(2...2)
            var change = WebhookChange()
            change.signing = .add("another")
            let changed = fixture.store.changeWebhook(fixture.webhook.id, change)
            let secrets = WebhookSecret.all(in: try #require(changed).secret)
            await fixture.delivery.interrupt(fixture.webhook.id)
            #expect(await turn == .idle)
            #expect(await fixture.postEvents() == .idle)
            let posts = fixture.receiver.posts
            #expect(fixture.receiver.numbers == [[1], [1], [2]], "what is told again is the same")
            let last = try #require(posts.last)
            let signature = try #require(last.headers.first(name: WebhookSignature.header))
            #expect(signature == WebhookSignature.make(of: last.body, secrets: secrets, at: fixture.time.now))
            #expect(secrets.count == 2)
        }
    }
}
