import Foundation
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// The contract of every ``XMPPNodeStore``.
@Suite(.timeLimit(.patience)) struct XMPPNodeContract: StoreContract {
    private func node(
        _ name: String,
        _ app: Int64,
        owner: XMPPNodeRecord.Owner = .installation("phone-1"),
        after: Int64 = 0
    ) -> XMPPNodeRecord {
        XMPPNodeRecord(
            node: name,
            app: app,
            component: "push.example.org",
            secretHash: Data(repeating: 1, count: 32),
            owner: owner,
            domain: "example.com",
            account: "work",
            createdAt: self.now.advanced(by: .seconds(after))
        )
    }

    private static func names(
        _ store: any ProviderStore,
        _ app: Int64,
        _ owner: XMPPNodeRecord.Owner = .installation("phone-1")
    ) async throws -> [String] {
        try await store.xmppNodes(app: app, owner: owner).map(\.node)
    }

    @Test(arguments: StoreBackend.available)
    func aNodeIsItsOwners(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let first = self.node("a", app)
            let isSet = try await store.setXMPPNode(first)
            #expect(isSet)
            #expect(try await store.xmppNode("a") == first)
            var changed = first
            (changed.secretHash, changed.account) = (Data(repeating: 2, count: 32), nil)
            #expect(try await store.setXMPPNode(changed))
            #expect(try await store.xmppNode("a") == changed)
            let others = self.node("a", app, owner: .user("phone-1"))
            #expect(try await store.setXMPPNode(others) == false)
            #expect(try await store.removeXMPPNode("a", app: app, owner: .installation("phone-2")) == false)
            #expect(try await store.removeXMPPNode("a", app: app + 1, owner: nil) == false)
            #expect(try await store.xmppNode("a") == changed)
            #expect(try await store.removeXMPPNode("a", app: app, owner: .installation("phone-1")))
            #expect(try await store.xmppNode("a") == nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func anOwnersAreListed(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            for (after, name) in ["c", "a", "b"].enumerated() {
                _ = try await store.setXMPPNode(self.node(name, app, after: Int64(after)))
            }
            _ = try await store.setXMPPNode(self.node("d", app, owner: .user("ada")))
            #expect(try await Self.names(store, app) == ["b", "a", "c"])
            #expect(try await Self.names(store, app, .user("ada")) == ["d"])
            #expect(try await Self.names(store, app, .user("phone-1")).isEmpty)
            #expect(try await Self.names(store, app + 1).isEmpty)
        }
    }

    @Test(arguments: StoreBackend.available)
    func theOldestOfAnOwnerGiveWay(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let most = XMPPNodeRecord.maximumPerOwner
            for number in 0..<(most + 2) {
                _ = try await store.setXMPPNode(self.node("n\(number)", app, after: Int64(number)))
            }
            _ = try await store.setXMPPNode(self.node("other", app, owner: .installation("phone-2")))
            #expect(try await Self.names(store, app) == (2..<(most + 2)).reversed().map { "n\($0)" })
            #expect(try await Self.names(store, app, .installation("phone-2")) == ["other"])
        }
    }

    @Test(arguments: StoreBackend.available)
    func theTokensAreThoseOfActiveDevices(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let owner = XMPPNodeRecord.Owner.installation("phone-1")
            func tokens(_ environment: PushEnvironment?) async throws -> [DeviceToken] {
                try await store.xmppTokens(of: owner, app: app, environment: environment, limit: 10)
            }
            #expect(try await tokens(nil).isEmpty)
            for (number, environment) in [(1, PushEnvironment.sandbox), (2, .production)] {
                var registration = DeviceRegistration(environment: environment, token: .numbered(number))
                (registration.installation, registration.user) = ("phone-1", .set("ada"))
                _ = try await store.register([registration], app: app, now: self.now)
            }
            var voip = DeviceRegistration(environment: .sandbox, token: .numbered(3))
            (voip.installation, voip.kind) = ("phone-1", .voip)
            _ = try await store.register([voip], app: app, now: self.now)
            #expect(try await tokens(nil) == [.numbered(1), .numbered(2)])
            #expect(try await tokens(.sandbox) == [.numbered(1)])
            let ofUser = try await store.xmppTokens(of: .user("ada"), app: app, environment: nil, limit: 1)
            #expect(ofUser == [.numbered(1)])
            _ = try await store.deleteDevices(app: app, token: .numbered(1), environment: nil, now: self.now)
            #expect(try await tokens(nil) == [.numbered(2)])
        }
    }

    @Test(arguments: StoreBackend.available)
    func theyGoWithTheirInstallation(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            _ = try await store.setXMPPNode(self.node("a", app))
            _ = try await store.setXMPPNode(self.node("b", app, owner: .installation("phone-2")))
            _ = try await store.deleteDevices(app: app, installation: "phone-1", now: self.now)
            #expect(try await store.xmppNode("a") == nil)
            #expect(try await store.xmppNode("b") != nil)
        }
    }

    @Test(arguments: StoreBackend.available)
    func thoseWithoutDevicesAreForgotten(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var registration = DeviceRegistration(environment: .sandbox, token: .numbered(1))
            (registration.installation, registration.user) = ("phone-1", .set("ada"))
            _ = try await store.register([registration], app: app, now: self.now)
            _ = try await store.setXMPPNode(self.node("kept", app))
            _ = try await store.setXMPPNode(self.node("ofUser", app, owner: .user("ada")))
            _ = try await store.setXMPPNode(self.node("gone", app, owner: .installation("phone-2")))
            _ = try await store.setXMPPNode(self.node("goneUser", app, owner: .user("bob")))
            _ = try await store.setXMPPNode(self.node("new", app, owner: .installation("phone-3"), after: 10))
            let limit = self.now.advanced(by: .seconds(5))
            #expect(try await store.forgetXMPPNodes(before: limit, limit: 1) == 1)
            #expect(try await store.forgetXMPPNodes(before: limit, limit: 10) == 1)
            #expect(try await store.forgetXMPPNodes(before: limit, limit: 10) == 0)
            for (name, isKept) in ["kept": true, "ofUser": true, "new": true, "gone": false, "goneUser": false] {
                let node = try await store.xmppNode(name)
                #expect((node != nil) == isKept, "\(name)")
            }
        }
    }

    @Test(arguments: StoreBackend.available)
    func theyAreErasedWithTheirUser(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            var registration = DeviceRegistration(environment: .sandbox, token: .numbered(1))
            (registration.installation, registration.user) = ("phone-1", .set("ada"))
            _ = try await store.register([registration], app: app, now: self.now)
            _ = try await store.setXMPPNode(self.node("a", app))
            _ = try await store.setXMPPNode(self.node("b", app, owner: .user("ada")))
            _ = try await store.setXMPPNode(self.node("c", app, owner: .user("bob")))
            let erasure = try await store.eraseUser("ada", app: app, steady: self.now)
            while try await store.continueErasure(erasure, now: self.now) {}
            #expect(try await store.xmppNode("a") == nil)
            #expect(try await store.xmppNode("b") == nil)
            #expect(try await store.xmppNode("c") != nil)
        }
    }
}
