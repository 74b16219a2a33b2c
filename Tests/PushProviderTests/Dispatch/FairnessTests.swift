import ProviderModel
import PushSender
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Apps beside others whose push service does not respond.
@Suite(.timeLimit(.patience)) struct FairnessTests {
    /// The common fixture of several apps.
    private struct Apps: Sendable {
        let fixture: DispatchFixture
        let acceptor: NotificationAcceptor
        let gate = Gate()

        /// An app with ten devices whose push service is silent or not.
        func add(_ name: String, isSilent: Bool) async throws -> AppRecord {
            let topic = try #require(Topic("\(isSilent ? "silent" : "prompt").\(name)"))
            let app = try await self.fixture.store.addApp(bundleID: topic, name: nil, now: self.fixture.time.now).app
            try await self.fixture.store.setCredential(
                .key(teamID: Vectors.teamID, keyID: Vectors.keyID, privateKey: Vectors.privateKey),
                app: app.id,
                environment: .sandbox
            )
            let devices = (1...10).map { DeviceRegistration(environment: .sandbox, token: .numbered($0)) }
            _ = try await self.fixture.store.register(devices, app: app.id, now: self.fixture.time.now)
            return app
        }

        func send(_ app: AppRecord, lane: [String: JSONValue] = ["all": true]) async throws -> NotificationRecord {
            let request = try NotificationRequest(
                parsing: JSONValue.object(["alert": "Hello", "to": .object(lane), "environment": "sandbox"]).text,
                bundleID: app.bundleID,
                now: self.fixture.time.now
            )
            return try await self.acceptor.accept(request, app: app.id).notification
        }

        /// The push service of silent apps does not respond from now on.
        func beSilent() {
            self.fixture.sender.onSend { [gate] sent in
                if sent.notification.topic.name.hasPrefix("silent") { await gate.pass() }
            }
        }

        /// Until it is true; time passes at each look.
        func wait(_ step: Duration = .zero, until isTrue: () async throws -> Bool) async throws {
            while try await !isTrue() {
                try Task.checkCancellation()
                self.fixture.time.advance(by: step)
                for lane in NotificationRecord.Lane.allCases { self.fixture.wakes[lane].signal() }
                await Task.yield()
            }
        }

        func isDone(_ notification: NotificationRecord) async throws -> Bool {
            try await self.fixture.store.notification(notification.id)?.state == .done
        }
    }

    private func run(
        _ backend: StoreBackend,
        _ body: @escaping @Sendable (Apps) async throws -> Void
    ) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            var limits = fixture.limits
            // Time passes at each look, however many there are until a page is done.
            limits.lease = .seconds(365 * 86_400)
            let direct = DirectDispatch(store: fixture.store, limits: limits, time: fixture.time)
            let apps = Apps(fixture: fixture, acceptor: fixture.acceptor(direct))
            try await withServices([fixture.dispatcher(direct: direct, limits: limits)]) {
                defer { apps.gate.open() }
                try await body(apps)
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func aCampaignEndsBesideTwelveOfASilentService(backend: StoreBackend) async throws {
        try await self.run(backend) { apps in
            apps.beSilent()
            let silent = try await apps.add("a", isSilent: true)
            for _ in 0..<12 { _ = try await apps.send(silent) }
            try await apps.wait { apps.fixture.sender.sent.count >= 4 }
            // No time passes: a slot is free for it.
            let other = try await apps.send(try await apps.add("b", isSilent: false))
            try await apps.wait { try await apps.isDone(other) }
        }
    }

    @Test(arguments: StoreBackend.available)
    func aCampaignEndsBesideManySilentServices(backend: StoreBackend) async throws {
        try await self.run(backend) { apps in
            apps.beSilent()
            for number in 0..<8 {
                let silent = try await apps.add("a\(number)", isSilent: true)
                for _ in 0..<4 { _ = try await apps.send(silent) }
            }
            let other = try await apps.send(try await apps.add("b", isSilent: false))
            try await apps.wait(.seconds(1)) { try await apps.isDone(other) }
            // Its pages are late, and are not lost: each is on its way once.
            #expect(Set(apps.fixture.sender.sent.map(\.notification.id)).count == apps.fixture.sender.sent.count)
        }
    }

    @Test(arguments: StoreBackend.available)
    func retriesEndBesideThoseOfManySilentServices(backend: StoreBackend) async throws {
        try await self.run(backend) { apps in
            apps.fixture.sender.always(.refused(503, .serviceUnavailable), in: .sandbox)
            var silent: [NotificationRecord] = []
            for number in 0..<6 {
                let app = try await apps.add("a\(number)", isSilent: true)
                silent.append(try await apps.send(app))
            }
            let other = try await apps.send(try await apps.add("b", isSilent: false))
            for notification in silent + [other] {
                try await apps.wait(.seconds(1)) {
                    try await apps.fixture.store.notification(notification.id)?.progress.retrying == 10
                }
            }
            apps.beSilent()
            apps.fixture.sender.always(nil, in: .sandbox)
            try await apps.wait(.seconds(1)) { try await apps.isDone(other) }
        }
    }

    @Test(arguments: StoreBackend.available)
    func urgentPushesLeaveBesideManySilentServices(backend: StoreBackend) async throws {
        try await self.run(backend) { apps in
            apps.beSilent()
            for number in 0..<6 {
                let silent = try await apps.add("a\(number)", isSilent: true)
                for _ in 0..<40 {
                    _ = try await apps.send(silent, lane: ["tokens": [.string(DeviceToken.numbered(1).hex)]])
                }
            }
            let app = try await apps.add("b", isSilent: false)
            let to: [String: JSONValue] = ["tokens": [.string(DeviceToken.numbered(1).hex)]]
            for _ in 0..<20 {
                let urgent = try await apps.send(app, lane: to)
                try await apps.wait(.seconds(1)) { try await apps.isDone(urgent) }
                #expect(try await apps.fixture.progress(of: urgent).progress.accepted == 1)
            }
        }
    }
}
