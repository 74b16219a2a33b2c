import Foundation
import NIOCore
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// The most notifications of a user in a window of time.
@Suite(.timeLimit(.patience)) struct CapTests {
    @Test(arguments: StoreBackend.available)
    func aUserGetsNoMoreThanTheCap(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            _ = try await fixture.store.changeApp(
                fixture.app,
                AppChanges(cap: .set(FrequencyCap(count: 2, window: 3600)))
            )
            // The devices of a user count as one; the device without a user for itself.
            try await fixture.register(1...3) { $0.user = .set("alice") }
            try await fixture.register(4...4)
            for _ in 1...2 {
                let notification = try await fixture.accept([:])
                try await fixture.settle()
                try await fixture.store.expect(notification, .done, accepted: 4)
                fixture.time.advance(by: .seconds(600))
            }
            let third = try await fixture.accept(["badge": ["increment": 1]])
            try await fixture.settle()
            try await fixture.store.expect(third, .done, skipped: 4)
            #expect(try await fixture.deliveries(of: third).first?.reason == "cap of the user reached")
            #expect(try await fixture.store.badge(app: fixture.app, holder: BadgeHolder.user("alice")) == 0)
            // Urgent ones and those that nobody sees are sent, and do not count.
            for exempt in [["urgent": true], ["alert": .null, "contentAvailable": true]] as [[String: JSONValue]] {
                let notification = try await fixture.accept(exempt)
                try await fixture.settle()
                try await fixture.store.expect(notification, .done, accepted: 4)
            }
            // The first one leaves the window.
            fixture.time.advance(by: .seconds(2400))
            let fourth = try await fixture.accept([:])
            try await fixture.settle()
            try await fixture.store.expect(fourth, .done, accepted: 4)
            let fifth = try await fixture.accept([:])
            try await fixture.settle()
            try await fixture.store.expect(fifth, .done, skipped: 4)
            fixture.time.advance(by: .seconds(7200))
            while try await fixture.store.forgetCapUses(now: fixture.time.steady, limit: 1) > 0 {}
            let sixth = try await fixture.accept([:])
            try await fixture.settle()
            try await fixture.store.expect(sixth, .done, accepted: 4)
        }
    }

    /// A retry, and a page that a crash repeats, count once.
    @Test(arguments: StoreBackend.available)
    func aRepetitionCountsOnce(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            _ = try await fixture.store.changeApp(
                fixture.app,
                AppChanges(cap: .set(FrequencyCap(count: 1, window: 86_400)))
            )
            try await fixture.register(1...1)
            fixture.sender.script(.numbered(1), .refused(503, .serviceUnavailable))
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            try await fixture.settle(after: .seconds(3600), times: 3)
            try await fixture.store.expect(notification, .done, accepted: 1)
            let cap = FrequencyCap(count: 1, window: 86_400)
            let holder = BytewiseString("device:\(try #require(try await fixture.device(1)).id)")
            for (number, reached) in [(Int64(1), Set<BytewiseString>()), (1, []), (2, [holder]), (1, [])] {
                let found = try await fixture.store.reserve([
                    FrequencyCapReservation(
                        cap,
                        app: fixture.app,
                        notification: number,
                        holders: [holder],
                        now: fixture.time.steady
                    )
                ])
                #expect(found == [reached])
            }
        }
    }

    /// The process ends after a page has been counted and before its results are on disk: the page is sent again, and the
    /// user has a place left.
    @Test(arguments: StoreBackend.available, ["atLeastOnce", "atMostOnce"])
    func aPageThatACrashRepeatsCountsOnce(backend: StoreBackend, guarantee: String) async throws {
        try await DispatchFixture.run(backend) { fixture in
            _ = try await fixture.store.changeApp(
                fixture.app,
                AppChanges(cap: .set(FrequencyCap(count: 2, window: 86_400)))
            )
            try await fixture.register(1...1)
            let first = try await fixture.accept(["guarantee": .string(guarantee)])
            let (store, time) = (fixture.store, fixture.time)
            fixture.whileSending { _ = try await store.recover(now: time.steady) }
            try await fixture.settle()
            let isRepeated = guarantee == "atLeastOnce"
            #expect(fixture.sender.sent.count == (isRepeated ? 2 : 1))
            let (accepted, unknown) = isRepeated ? (1, 0) : (0, 1)
            try await fixture.store.expect(first, .done, accepted: accepted, unknown: unknown)
            let second = try await fixture.accept([:])
            try await fixture.settle()
            try await fixture.store.expect(second, .done, accepted: 1)
            let third = try await fixture.accept([:])
            try await fixture.settle()
            try await fixture.store.expect(third, .done, skipped: 1)
        }
    }

    /// Names that look the same are two users, as they are to the database.
    @Test(arguments: StoreBackend.available)
    func usersWhoseNamesLookTheSameHaveTheirOwnCap(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            _ = try await fixture.store.changeApp(
                fixture.app,
                AppChanges(cap: .set(FrequencyCap(count: 1, window: 86_400)))
            )
            let names = ["Ren\u{e9}", "Rene\u{301}"]
            for (index, name) in names.enumerated() {
                try await fixture.register(index + 1...index + 1) { $0.user = .set(name) }
            }
            let first = try await fixture.accept(["to": ["user": .string(names[0])], "badge": ["increment": 5]])
            try await fixture.settle()
            try await fixture.store.expect(first, .done, accepted: 1)
            let second = try await fixture.accept(["badge": ["increment": 1]])
            try await fixture.settle()
            try await fixture.store.expect(second, .done, accepted: 1, skipped: 1)
            #expect(fixture.sentTokens == [.numbered(1), .numbered(2)])
            let push = try #require(fixture.sender.sent.last).notification.payload.readableBytesView
            #expect(try JSONValue(parsing: Data(push))["aps"]["badge"] == 1)
            let third = try await fixture.accept(["badge": ["increment": 1], "urgent": true])
            try await fixture.settle()
            try await fixture.store.expect(third, .done, accepted: 2)
            let badges = try fixture.sender.sent.suffix(2).map { sent in
                try JSONValue(parsing: Data(sent.notification.payload.readableBytesView))["aps"]["badge"].integerValue
            }
            #expect(Set(badges) == [6, 2])
        }
    }

    /// The reservations of two campaigns in flight at the same time never exceed the cap together.
    @Test(arguments: StoreBackend.available)
    func campaignsAtTheSameTimeShareTheCap(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let (store, app, now) = (fixture.store, fixture.app, fixture.time.steady)
            let holders = Set((1...50).map { BytewiseString("user:\($0)") })
            let cap = FrequencyCap(count: 3, window: 60)
            let sent = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in Int64(1)...8 {
                    group.addTask {
                        // Two in one transaction.
                        let reservations = [number, number + 8].map {
                            FrequencyCapReservation(cap, app: app, notification: $0, holders: holders, now: now)
                        }
                        return try await store.reserve(reservations).reduce(0) { $0 + holders.count - $1.count }
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(sent == 150)
        }
    }

    /// Pages that wait for the disk share one transaction.
    @Test func reservationsThatWaitAreWrittenTogether() async throws {
        let (began, opening) = AsyncStream<Void>.makeStream()
        let (isOpen, open) = AsyncStream<Void>.makeStream()
        let batches = Mutex<[[Int]]>([])
        let batcher = WriteBatcher<Int, Int> { items in
            let isFirst = batches.withLock { batches in
                batches.append(items)
                return batches.count == 1
            }
            if isFirst {
                opening.finish()
                for await _ in isOpen {}
            }
            return items.map { $0 * 10 }
        }
        async let first = batcher.commit(1)
        for await _ in began {}
        let others = try await withThrowingTaskGroup(of: Int.self) { group in
            for item in 2...9 { group.addTask { await batcher.commit(item) } }
            try await eventually { batcher.waitingCount >= 8 }
            open.finish()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(await first == 10)
        #expect(others.sorted() == (2...9).map { $0 * 10 })
        #expect(batches.withLock { $0.map(\.count) } == [1, 8])
    }
}
