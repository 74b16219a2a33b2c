import Foundation
import NIOCore
import PushProtocol
import PushProvider
import PushSender
import PushStore
import PushTesting
import Testing

/// The dispatcher step by step, with a scripted push service and a manual clock.
@Suite(.timeLimit(.minutes(1))) struct DispatcherTests {
    let time = ManualTime()
    let sender = ScriptedSender()

    @Test(arguments: StoreBackend.available)
    func aBroadcastReachesEveryDeviceOnce(backend: StoreBackend) async throws {
        try await self.withDispatcher(backend, page: 10) { store, app, dispatcher in
            try await self.register(1...25, store, app)
            let notification = try await self.accept(.all, store, app)
            while try await dispatcher.step() {}
            #expect(self.sender.sent.map(\.token).sorted { $0.hex < $1.hex } == (1...25).map { .numbered($0) })
            let end = try #require(try await store.notification(notification.id))
            #expect(end.state == .done)
            #expect(end.counters.accepted == 25)
            let deliveries = try await store.deliveries(of: notification.id, after: nil, limit: 100)
            #expect(Set(deliveries.map(\.apnsID)) == Set(self.sender.sent.map(\.notification.id)))
        }
    }

    @Test(arguments: StoreBackend.available)
    func aCrashCostsAtMostOnePageAgainWithTheSameIDs(backend: StoreBackend) async throws {
        try await self.withDispatcher(backend, page: 10) { store, app, dispatcher in
            try await self.register(1...25, store, app)
            let notification = try await self.accept(.all, store, app)
            _ = try await dispatcher.step()
            // Claimed and sent, but the process ends before it is written.
            let claimed = try #require(
                try await store.claim(now: self.time.now, until: self.time.now.advanced(by: .seconds(300)))
            )
            for recipient in try await store.recipients(of: claimed, limit: 10).recipients {
                let id = DeliveryID.make(notification: notification.id, recipient: recipient.id)
                _ = await self.sender.send(try self.push(id: id), to: recipient.token)
            }
            try await store.releaseLeases()
            while try await dispatcher.step() {}
            #expect(try await store.notification(notification.id)?.counters.accepted == 25)
            let sends = Dictionary(grouping: self.sender.sent, by: \.token)
            #expect(sends.count == 25)
            #expect(sends.values.filter { $0.count == 2 }.count == 10)
            #expect(sends.values.allSatisfy { Set($0.map(\.notification.id)).count == 1 })
        }
    }

    @Test(arguments: StoreBackend.available)
    func a410EndsTheDevice(backend: StoreBackend) async throws {
        try await self.withDispatcher(backend) { store, app, dispatcher in
            try await self.register(1...2, store, app)
            self.time.advance(by: .seconds(10))
            self.sender.script(
                .numbered(1),
                .rejected(Rejection(status: 410, reasonText: "Unregistered", timestamp: self.time.now))
            )
            let notification = try await self.accept(.all, store, app)
            while try await dispatcher.step() {}
            let counters = try await store.notification(notification.id)?.counters
            #expect(counters?.accepted == 1)
            #expect(counters?.rejected == 1)
            #expect(try await store.devices(app: app, token: .numbered(1)).first?.isActive == false)
            #expect(try await store.devices(app: app, token: .numbered(2)).first?.isActive == true)
        }
    }

    @Test(arguments: StoreBackend.available)
    func a503IsTriedAgainWhenItsTimeHasCome(backend: StoreBackend) async throws {
        try await self.withDispatcher(backend) { store, app, dispatcher in
            try await self.register(1...1, store, app)
            self.sender.script(
                .numbered(1),
                .rejected(Rejection(status: 503, reasonText: "ServiceUnavailable", retryAfter: .seconds(60)))
            )
            let notification = try await self.accept(.all, store, app)
            while try await dispatcher.step() {}
            #expect(self.sender.sent.count == 1)
            #expect(try await store.notification(notification.id)?.counters.retrying == 1)
            self.time.advance(by: .seconds(61))
            while try await dispatcher.step() {}
            #expect(Set(self.sender.sent.map(\.notification.id)).count == 1)
            #expect(self.sender.sent.count == 2)
            #expect(try await store.notification(notification.id)?.state == .done)
            #expect(try await store.deliveries(of: notification.id, after: nil, limit: 1).first?.attempts == 2)
        }
    }

    @Test(arguments: StoreBackend.available)
    func whatExpiredWhileNobodyWorkedIsNotSent(backend: StoreBackend) async throws {
        try await self.withDispatcher(backend) { store, app, dispatcher in
            try await self.register(1...1, store, app)
            for expiration in [Expiration.immediate, .at(seconds: self.time.now.seconds + 3600)] {
                let notification = try await self.accept(.all, store, app, expiration: expiration)
                self.time.advance(by: .seconds(7200))
                while try await dispatcher.step() {}
                #expect(self.sender.sent.isEmpty)
                let delivery = try await store.deliveries(of: notification.id, after: nil, limit: 1).first
                #expect(delivery?.state == .failed)
                #expect(delivery?.reason == "expired before it could be sent")
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func withoutACredentialTheRecipientFails(backend: StoreBackend) async throws {
        try await self.withDispatcher(backend) { store, app, dispatcher in
            let registration = DeviceRegistration(environment: .production, token: .numbered(1))
            _ = try await store.register(registration, app: app, now: self.time.now)
            let notification = try await self.accept(.all, store, app)
            while try await dispatcher.step() {}
            #expect(self.sender.sent.isEmpty)
            let delivery = try await store.deliveries(of: notification.id, after: nil, limit: 1).first
            #expect(delivery?.state == .failed)
            #expect(delivery?.reason == "no usable credential for production")
        }
    }

    @Test(arguments: StoreBackend.available)
    func theServiceWorksWhenWokenAndEndsWhenAsked(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            try await self.addCredential(store, app)
            try await self.register(1...3, store, app)
            let wake = Wake()
            let dispatcher = Dispatcher(
                store: store,
                senders: self.sender,
                wake: wake,
                time: self.time,
                logger: silentLogger
            )
            let notification = try await self.accept(.all, store, app)
            try await withServices([dispatcher]) {
                wake.signal()
                while try await store.notification(notification.id)?.state != .done { try Task.checkCancellation() }
            }
            #expect(self.sender.sent.count == 3)
        }
    }

    private func withDispatcher(
        _ backend: StoreBackend,
        page: Int = 500,
        _ body: (any PushStore, Int64, Dispatcher) async throws -> Void
    ) async throws {
        try await backend.withStore { store, app in
            try await self.addCredential(store, app)
            var limits = Dispatcher.Limits()
            limits.page = page
            limits.inFlight = 3
            let dispatcher = Dispatcher(
                store: store,
                senders: self.sender,
                wake: Wake(),
                limits: limits,
                time: self.time,
                logger: silentLogger
            )
            try await body(store, app, dispatcher)
        }
    }

    private func addCredential(_ store: any PushStore, _ app: Int64) async throws {
        let credential = CredentialRecord(teamID: Vectors.teamID, keyID: Vectors.keyID, privateKey: Vectors.privateKey)
        try await store.setCredential(credential, app: app, environment: .sandbox)
    }

    private func register(_ numbers: ClosedRange<Int>, _ store: any PushStore, _ app: Int64) async throws {
        for number in numbers {
            let registration = DeviceRegistration(environment: .sandbox, token: .numbered(number))
            _ = try await store.register(registration, app: app, now: self.time.now)
        }
    }

    private func accept(
        _ audience: Audience,
        _ store: any PushStore,
        _ app: Int64,
        expiration: Expiration = .servicePolicy
    ) async throws -> NotificationRecord {
        let notification = try NotificationRecord.fixture(
            app: app,
            to: audience,
            expiration: expiration,
            createdAt: self.time.now
        )
        _ = try await store.accept(notification, idempotency: nil)
        return notification
    }

    private func push(id: String) throws -> PushNotification {
        PushNotification(id: id, topic: try #require(Topic(Vectors.bundleID)), payload: .init())
    }
}
