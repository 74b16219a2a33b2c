import ProviderModel
import PushSender
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Expiry that counts from each recipient's start.
@Suite(.timeLimit(.patience)) struct RecipientExpiryTests {
    /// 22:13:20 UTC.
    private static let now = Vectors.issuedAt.seconds

    @Test(arguments: StoreBackend.available)
    func itCountsFromTheAcceptance(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            try await fixture.accept(["expiresIn": "6h"])
            try await fixture.settle(after: .seconds(60))
            #expect(fixture.sender.sent.map(\.notification.expiration) == [.at(seconds: Self.now + 21_600)])
        }
    }

    @Test(arguments: StoreBackend.available)
    func itCountsFromTheNamedTime(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            try await fixture.accept(["expiresIn": 60, "when": ["at": .integer(Self.now + 3600)]])
            try await fixture.settle(after: .seconds(3600))
            #expect(fixture.sender.sent.map(\.notification.expiration) == [.at(seconds: Self.now + 3660)])
        }
    }

    @Test(arguments: StoreBackend.available)
    func itCountsFromEachRunOfASchedule(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            var schedule = try fixture.schedule()
            let request: JSONValue = ["to": ["all": true], "alert": "Hello", "expiresIn": "6h"]
            schedule.request = try request.text
            schedule.key = KeyReference(id: schedule.id, name: "planner")
            try await fixture.store.addSchedule(schedule)
            for _ in 0..<3 { try await fixture.settle(after: .seconds(3600)) }
            // The runs are at full hours, and each is found 13 minutes and 20 seconds later.
            #expect(
                fixture.sender.sent.map(\.notification.expiration)
                    == (1...3).map { .at(seconds: Self.now + $0 * 3600 + 21_600) }
            )
            let listed = try await fixture.store.notifications(app: fixture.app, state: nil, before: nil, limit: 10)
            #expect(listed.notifications.map(\.name) == Array(repeating: "hourly", count: 3))
            #expect(listed.notifications.map(\.key?.name) == Array(repeating: "planner", count: 3))
        }
    }

    @Test(arguments: StoreBackend.available)
    func itCountsFromTheMorningOfEachTimeZone(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let zones = ["Asia/Tokyo", "Europe/Berlin", "America/New_York"]
            for (index, zone) in zones.enumerated() {
                try await fixture.register(index + 1...index + 1) { $0.timeZone = .set(zone) }
            }
            // The third push meets a service that is busy: its retry has the same expiration.
            fixture.sender.script(.numbered(3), .refused(503, .serviceUnavailable))
            let local: JSONValue = ["localTime": "2023-11-16T09:00", "defaultTimeZone": "UTC"]
            try await fixture.accept(["expiresIn": 7200, "when": local])
            for _ in 0..<100 {
                try await fixture.settle()
                try await fixture.settle(after: .seconds(1800))
            }
            // 09:00 in Tokyo is midnight UTC, in Berlin 08:00, in New York 14:00.
            let midnight: Int64 = 1_700_092_800
            let expirations = Set(
                fixture.sender.sent.map { [Int64($0.token.bytes.last ?? 0), $0.notification.expiration.seconds] }
            )
            #expect(
                expirations == [
                    [1, midnight + 7200], [2, midnight + 8 * 3600 + 7200], [3, midnight + 14 * 3600 + 7200],
                ]
            )
        }
    }

    /// A push that waited too long is not sent, and fails with a reason.
    @Test(arguments: StoreBackend.available)
    func whatHasExpiredIsNotSent(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...2)
            let notification = try await fixture.accept(["expiresIn": 60])
            try await fixture.settle(after: .seconds(61))
            #expect(fixture.sender.sent.isEmpty)
            try await fixture.store.expect(notification, .done, failed: 2)
            let reasons = try await fixture.deliveries(of: notification).map(\.reason)
            #expect(reasons == Array(repeating: "expired before it could be sent", count: 2))
        }
    }

    /// The delay of a push that never left may be a minute otherwise.
    @Test(arguments: StoreBackend.available)
    func aPushThatNeverLeftIsTriedWithinAShortLife(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...20)
            for number in 1...20 { fixture.sender.script(.numbered(number), .notSent(.init("no connection"))) }
            let notification = try await fixture.accept(["expiresIn": 10])
            try await fixture.settle()
            try await fixture.settle(after: .milliseconds(9999))
            try await fixture.store.expect(notification, .done, accepted: 20)
        }
    }

    /// A retry never comes after the expiry.
    @Test(arguments: StoreBackend.available)
    func retriesEndWithIt(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1)
            fixture.sender.always(.notSent(.init("no connection")), in: .sandbox)
            let notification = try await fixture.accept(["expiresIn": 120])
            for _ in 0..<10 { try await fixture.settle(after: .seconds(30)) }
            try await fixture.store.expect(notification, .done, failed: 1)
            #expect(fixture.sender.sent.count > 1)
            #expect(Set(fixture.sender.sent.map(\.notification.expiration)) == [.at(seconds: Self.now + 120)])
        }
    }
}

extension Expiration {
    fileprivate var seconds: Int64 { if case .at(let seconds) = self { seconds } else { 0 } }
}
