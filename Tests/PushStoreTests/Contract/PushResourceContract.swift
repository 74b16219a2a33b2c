import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

/// The contract of every ``PushResourceStore``.
@Suite(.timeLimit(.patience)) struct PushResourceContract: StoreContract {
    private static let phone = "the phone"

    private func resource(_ number: UInt8, _ app: Int64, installation: String = Self.phone) -> PushResourceRecord {
        PushResourceRecord(
            hash: Array(repeating: number, count: 32),
            app: app,
            installation: installation,
            name: "account \(number)",
            vapidKey: number == 2 ? Array(repeating: 4, count: 65) : nil,
            origin: number == 2 ? "https://push.example.org" : nil,
            createdAt: self.now.advanced(by: .seconds(Int64(number)))
        )
    }

    private func message(
        _ number: Int,
        _ resource: PushResourceRecord,
        topic: String? = nil,
        seconds: Int64 = 60
    ) -> PushMessageRecord {
        PushMessageRecord(
            id: UUID(),
            app: resource.app,
            resource: resource.id,
            tokenHash: [1, 2, 3],
            topic: topic,
            body: Data("\(number)".utf8),
            expiresAt: self.now.advanced(by: .seconds(seconds))
        )
    }

    /// Registers the token of an installation.
    private func register(_ store: any ProviderStore, _ app: Int64, token: Int = 1) async throws -> Int64 {
        try await store.register(token, app: app) { $0.installation = Self.phone }
    }

    @Test(arguments: StoreBackend.available)
    func theyAreOfAnInstallation(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let (one, two) = (self.resource(1, app), self.resource(2, app))
            #expect(try await store.addPushResource(one) == .noDevice)
            _ = try await self.register(store, app)
            #expect(try await store.addPushResource(one) == .added)
            #expect(try await store.addPushResource(two) == .added)
            #expect(try await store.pushResources(app: app, installation: Self.phone) == [one, two])
            #expect(try await store.pushResources(app: app, installation: "another") == [])
            #expect(try await store.removePushResource(one.id, app: app, installation: "another") == false)
            #expect(try await store.removePushResource(one.id, app: app, installation: Self.phone))
            #expect(try await store.removePushResource(one.id, app: app, installation: Self.phone) == false)
            for number in 3...51 {
                let added = try await store.addPushResource(self.resource(UInt8(number), app))
                #expect(added == .added)
            }
            #expect(try await store.addPushResource(self.resource(60, app)) == .tooMany)
        }
    }

    @Test(arguments: StoreBackend.available)
    func messagesGoToTheTokenForAlerts(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let device = try await self.register(store, app)
            _ = try await store.register(9, app: app) { ($0.installation, $0.kind) = (Self.phone, .voip) }
            let one = self.resource(1, app)
            #expect(try await store.addPushResource(one) == .added)
            #expect(try await store.pushResourceTarget(hash: [9]) == nil)
            let target = try await store.pushResourceTarget(hash: one.hash)
            let expected = PushResourceTarget(resource: one, token: .numbered(1), environment: .sandbox)
            #expect(target == expected)
            // A changed token is the installation's too.
            _ = try await self.register(store, app, token: 2)
            #expect(try await store.pushResourceTarget(hash: one.hash)?.token == .numbered(2))
            #expect(try await store.endedPushResources(perApp: 9) == [])
            try await store.setUnsubscribeURL("https://sender.example/x", of: one)
            try await store.apply(.deactivated(since: self.later), to: device, app: app, reason: "Unregistered")
            #expect(try await store.pushResourceTarget(hash: one.hash) == nil)
            let ended = try await store.endedPushResources(perApp: 9)
            #expect(ended.map(\.id) == [one.id])
            #expect(ended.map(\.unsubscribeURL) == ["https://sender.example/x"])
            // An installation that returned meanwhile keeps it.
            _ = try await self.register(store, app, token: 2)
            try await store.removeEnded(ended)
            #expect(try await store.pushResourceTarget(hash: one.hash) != nil)
            _ = try await store.deleteDevices(app: app, installation: Self.phone, now: self.now)
            try await store.removeEnded(ended)
            #expect(try await store.pushResources(app: app, installation: Self.phone) == [])
        }
    }

    /// However many of an app have ended, those of another come in turn.
    @Test(arguments: StoreBackend.available)
    func endedOnesOfAppsTakeTurns(backend: StoreBackend) async throws {
        try await backend.withStore { store, first in
            let bundleID = try #require(Topic("com.example.second"))
            let second = try await store.addApp(bundleID: bundleID, name: nil, now: self.now).app.id
            let ofFirst = [5, 4, 3, 2].map { self.resource($0, first) }
            let ofSecond = [9, 8].map { self.resource($0, second) }
            for app in [first, second] { _ = try await self.register(store, app) }
            for resource in ofFirst + ofSecond { #expect(try await store.addPushResource(resource) == .added) }
            #expect(try await store.endedPushResources(perApp: 3) == [])
            for app in [first, second] {
                _ = try await store.deleteDevices(app: app, installation: Self.phone, now: self.now)
            }
            // The oldest of each app.
            let expected = [ofFirst[3], ofSecond[1], ofFirst[2], ofSecond[0], ofFirst[1]]
            #expect(try await store.endedPushResources(perApp: 3) == expected)
        }
    }

    @Test(arguments: StoreBackend.available)
    func messagesAreKeptForATime(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            _ = try await self.register(store, app)
            let one = self.resource(1, app)
            #expect(try await store.addPushResource(one) == .added)
            let (short, long) = (self.message(1, one), self.message(2, one, topic: "upd", seconds: 120))
            try await store.addPushMessage(short)
            try await store.addPushMessage(long)
            #expect(try await store.pushMessage(short.id, now: self.now) == short)
            #expect(try await store.pushMessage(short.id, now: self.later) == nil)
            let newer = self.message(3, one, topic: "upd", seconds: 120)
            try await store.addPushMessage(newer)
            #expect(try await store.pushMessage(long.id, now: self.now) == nil, "the newer one of the topic counts")
            #expect(try await store.pushMessage(newer.id, now: self.now) == newer)
            #expect(try await store.removePushMessages(expiredAt: self.later, limit: 9) == 1)
            for number in 0..<PushMessageRecord.maximumCount {
                try await store.addPushMessage(self.message(number, one, seconds: 120))
            }
            #expect(try await store.pushMessage(newer.id, now: self.now) == nil, "the oldest gives way")
            let last = self.message(7, one)
            try await store.addPushMessage(last)
            #expect(try await store.removePushResource(one.id, app: app, installation: Self.phone))
            #expect(try await store.pushMessage(last.id, now: self.now) == nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func theyGoWithTheUser(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            _ = try await store.register(1, app: app) { ($0.installation, $0.user) = (Self.phone, .set("alice")) }
            #expect(try await store.addPushResource(self.resource(1, app)) == .added)
            let erasure = try await store.eraseUser("alice", app: app, steady: self.now)
            while try await store.continueErasure(erasure, now: self.now) {}
            #expect(try await store.pushResources(app: app, installation: Self.phone) == [])
        }
    }
}
