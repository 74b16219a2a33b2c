import Foundation
import ProviderModel
import PushProvider
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

@Suite(.timeLimit(.patience)) struct PushResourceCleanerTests {
    private struct Fixture {
        let store: any ProviderStore
        let app: Int64
        let service: BrowserPushService
        let cleaner: PushResourceCleaner
        let time: ManualTime

        /// Adds a push resource of a registered installation.
        /// - Parameter app: Its app; `nil` for the fixture's.
        func add(
            _ number: UInt8,
            unsubscribe path: String? = nil,
            app: Int64? = nil
        ) async throws -> PushResourceRecord {
            let (installation, app) = ("phone \(number)", app ?? self.app)
            try await self.store.register(Int(number), app: app) { $0.installation = installation }
            let resource = PushResourceRecord(
                hash: Array(repeating: number, count: 32),
                app: app,
                installation: installation,
                createdAt: self.time.now
            )
            #expect(try await self.store.addPushResource(resource) == .added)
            if let path { try await self.store.setUnsubscribeURL(self.service.url(path), of: resource) }
            return resource
        }

        func leave(_ resource: PushResourceRecord) async throws {
            _ = try await self.store.deleteDevices(
                app: resource.app,
                installation: resource.installation,
                now: self.time.now
            )
        }

        func isThere(_ resource: PushResourceRecord) async throws -> Bool {
            try await !self.store.pushResources(app: resource.app, installation: resource.installation).isEmpty
        }
    }

    private func withFixture(
        addresses: AddressPolicy = AddressPolicy(allowsPrivate: true),
        forwards: Budget = Budget(.forwards),
        _ body: (Fixture) async throws -> Void
    ) async throws {
        let backend = try #require(StoreBackend.available.first)
        try await BrowserPushService.run { service in
            try await backend.withStore { store, app in
                let time = ManualTime()
                let cleaner = PushResourceCleaner(
                    store: store,
                    client: RestrictedHTTPClient(
                        addresses: addresses,
                        resolver: SystemResolver(BudgetRegistry()),
                        source: .strangers,
                        deadline: .patience
                    ),
                    forwards: forwards,
                    time: time,
                    logger: silentLogger
                )
                try await body(Fixture(store: store, app: app, service: service, cleaner: cleaner, time: time))
            }
        }
    }

    @Test func senderAreToldOfAnEnd() async throws {
        try await self.withFixture { fixture in
            let (one, two) = (try await fixture.add(1, unsubscribe: "/one"), try await fixture.add(2))
            let three = try await fixture.add(3, unsubscribe: "/three")
            try await fixture.cleaner.clean()
            #expect(fixture.service.posts.isEmpty)
            try await fixture.leave(one)
            try await fixture.leave(two)
            try await fixture.cleaner.clean()
            #expect(fixture.service.posts.map { "\($0.method) \($0.path)" } == ["DELETE /one"])
            #expect(try await fixture.isThere(one) == false)
            #expect(try await fixture.isThere(two) == false)
            #expect(try await fixture.isThere(three))
        }
    }

    @Test func aSenderThatIsDownIsTriedAgain() async throws {
        try await self.withFixture { fixture in
            let one = try await fixture.add(1, unsubscribe: "/one")
            try await fixture.leave(one)
            fixture.service.script("/one", .init(500), .init(404))
            try await fixture.cleaner.clean()
            #expect(try await fixture.isThere(one))
            try await fixture.cleaner.clean()
            #expect(try await !fixture.isThere(one))
            let two = try await fixture.add(2, unsubscribe: "/two")
            try await fixture.leave(two)
            for _ in 0..<5 { fixture.service.script("/two", .init(503)) }
            for _ in 0..<5 {
                #expect(try await fixture.isThere(two))
                try await fixture.cleaner.clean()
            }
            #expect(try await !fixture.isThere(two), "it is given up")
        }
    }

    /// The senders of one app fail, and are tried again before its later ones.
    @Test func anAppWithManyEndsLeavesTheirTurnToOthers() async throws {
        try await self.withFixture { fixture in
            let most = PushResourceCleaner.perApp
            for number in 1...most + 1 {
                for _ in 0..<5 { fixture.service.script("/\(number)", .init(503)) }
                try await fixture.leave(fixture.add(UInt8(number), unsubscribe: "/\(number)"))
            }
            let bundleID = try #require(Topic("com.example.second"))
            let second = try await fixture.store.addApp(bundleID: bundleID, name: nil, now: fixture.time.now).app.id
            let other = try await fixture.add(200, unsubscribe: "/other", app: second)
            try await fixture.leave(other)
            try await fixture.cleaner.clean()
            #expect(fixture.service.posts.count == most + 1)
            #expect(try await !fixture.isThere(other))
            for _ in 0..<4 { try await fixture.cleaner.clean() }
            #expect(fixture.service.posts.count == 5 * most + 1, "those that fail are given up")
            try await fixture.cleaner.clean()
            #expect(fixture.service.posts.count == 5 * most + 2, "the last one has its turn")
        }
    }

    /// Its app sends as much as it may, to hosts that strangers name.
    @Test func aSenderIsToldOnceThereIsAPlace() async throws {
        let forwards = Budget(.forwards, limits: BudgetLimits(.init(whole: .held(1))))
        try await self.withFixture(forwards: forwards) { fixture in
            let (one, two) = (try await fixture.add(1, unsubscribe: "/one"), try await fixture.add(2))
            for resource in [one, two] { try await fixture.leave(resource) }
            let place = try forwards.take(for: BudgetCaller(.name("another")))
            for _ in 0..<6 { try await fixture.cleaner.clean() }
            #expect(fixture.service.posts.isEmpty)
            #expect(try await fixture.isThere(one), "it was not tried")
            #expect(try await !fixture.isThere(two), "it needs no place")
            place.end()
            try await fixture.cleaner.clean()
            #expect(fixture.service.posts.count == 1)
            #expect(try await !fixture.isThere(one))
            #expect(forwards.usage.held == 0)
        }
    }

    @Test func aSilentSenderHoldsUpNoShutdown() async throws {
        try await self.withFixture { fixture in
            let one = try await fixture.add(1, unsubscribe: "/one")
            try await fixture.leave(one)
            fixture.service.script("/one", .silence)
            let client = RestrictedHTTPClient(
                addresses: AddressPolicy(allowsPrivate: true),
                resolver: SystemResolver(BudgetRegistry()),
                source: .strangers,
                deadline: .patience
            )
            let (store, time, service) = (fixture.store, fixture.time, fixture.service)
            let cleaner = PushResourceCleaner(
                store: store,
                client: client,
                forwards: Budget(.forwards),
                time: time,
                logger: silentLogger
            )
            try await withServices([cleaner]) { try await service.waitForPosts(1) }
            #expect(try await fixture.isThere(one), "its sender was not told")
        }
    }

    @Test func privateAddressesAreNotAsked() async throws {
        try await self.withFixture(addresses: AddressPolicy()) { fixture in
            let one = try await fixture.add(1, unsubscribe: "/one")
            try await fixture.leave(one)
            try await fixture.cleaner.clean()
            #expect(fixture.service.posts.isEmpty)
            #expect(try await !fixture.isThere(one))
        }
    }

    @Test func messagesExpire() async throws {
        try await self.withFixture { fixture in
            let one = try await fixture.add(1)
            let message = PushMessageRecord(
                id: UUID(),
                app: fixture.app,
                resource: one.id,
                tokenHash: [1],
                topic: nil,
                body: Data("x".utf8),
                expiresAt: fixture.time.now.advanced(by: .seconds(60))
            )
            try await fixture.store.addPushMessage(message)
            try await fixture.cleaner.clean()
            #expect(try await fixture.store.pushMessage(message.id, now: fixture.time.now) == message)
            fixture.time.advance(by: .seconds(60))
            try await fixture.cleaner.clean()
            #expect(try await fixture.store.pushMessage(message.id, now: Vectors.issuedAt) == nil)
        }
    }
}
