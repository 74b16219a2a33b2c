import ProviderModel
import PushSender
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Responses to pushes whose topic is not that of their tokens (docs/decisions/0021).
@Suite(.timeLimit(.patience)) struct TokenTopicTests {
    private static let rejections: [Outcome] = [
        Outcome.refused(400, .deviceTokenNotForTopic), Outcome.refused(400, .badDeviceToken),
        Outcome.refused(410, .unregistered),
    ]

    /// The topic is proven by another token, so that each rejection would deactivate at once.
    @Test(arguments: StoreBackend.available, rejections)
    func aPushOfAnotherTopicDeactivatesNothing(backend: StoreBackend, rejection: Outcome) async throws {
        try await DispatchFixture.run(backend, environments: [.sandbox, .production]) { fixture in
            try await fixture.register(1...4)
            fixture.time.advance(by: .seconds(10))
            for _ in 1...3 {
                fixture.sender.script(.numbered(1), rejection)
                let other = try await fixture.accept(["topic": "com.example.Other"])
                try await fixture.settle()
                try await fixture.store.expect(other, .done, accepted: 3, rejected: 1)
            }
            #expect(try await fixture.device(1)?.isActive == true)
            #expect(try await fixture.device(1)?.suspicions == 0)
            #expect(try await fixture.device(1)?.environment == .sandbox, "it is not tried in the other environment")
            let events = try await fixture.store.tokenEvents(
                app: fixture.app,
                token: nil,
                action: nil,
                before: nil,
                limit: 10
            )
            #expect(events == [])
        }
    }

    /// Such a rejection is tried again (docs/decisions/0022).
    @Test(arguments: StoreBackend.available, [Reason.topicDisallowed, .badTopic])
    func aTopicThatIsNotAllowedDeactivatesNothing(backend: StoreBackend, reason: Reason) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...4)
            fixture.sender.always(Outcome.refused(400, reason), in: .sandbox)
            let other = try await fixture.accept(["topic": "com.example.Other"])
            try await fixture.settle()
            try await fixture.store.expect(other, .paused)
            #expect(try await fixture.store.count(app: fixture.app, audience: .everyone, environment: nil) == 4)
            #expect(try await fixture.device(1)?.suspicions == 0)
        }
    }

    /// A wrong push to 150 devices.
    @Test(arguments: StoreBackend.available)
    func oneWrongPushCostsNoDevice(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...150)
            try await fixture.accept([:])
            try await fixture.settle()
            fixture.time.advance(by: .seconds(10))
            fixture.sender.always(Outcome.refused(400, .deviceTokenNotForTopic), in: .sandbox)
            let error = await #expect(throws: RequestError.self) {
                try await fixture.accept(["pushType": "voip", "alert": .null, "data": ["call": 1]])
            }
            #expect(error?.code == "no_token_of_kind")
            for _ in 1...2 {
                try await fixture.accept(["topic": "com.example.Other"])
                try await fixture.settle()
            }
            let count = try await fixture.store.count(app: fixture.app, audience: .everyone, environment: nil)
            #expect(count == 150)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aRejectionUnderTheOwnTopicOfAKindCounts(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...2) { $0.kind = .voip }
            fixture.time.advance(by: .seconds(10))
            fixture.sender.script(.numbered(1), Outcome.refused(410, .unregistered, at: fixture.time.now))
            let call = try await fixture.accept(["pushType": "voip", "alert": .null, "data": ["call": 1]])
            try await fixture.settle()
            try await fixture.store.expect(call, .done, accepted: 1, rejected: 1)
            #expect(try await fixture.device(1)?.isActive == false)
            #expect(try await fixture.device(2)?.isActive == true)
        }
    }

    @Test(arguments: StoreBackend.available)
    func aTokenWhoseKindChangesMeanwhileIsSkipped(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            let notification = try await fixture.accept([
                "to": ["tokens": [.string(DeviceToken.numbered(1).hex)]], "environment": "sandbox",
            ])
            try await fixture.register(1...1) { $0.kind = .voip }
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, skipped: 1)
            #expect(fixture.sender.sent.isEmpty)
            #expect(
                try await fixture.deliveries(of: notification).map(\.reason) == [EndingCause.otherKind.rawValue]
            )
        }
    }
}
