import Foundation
import ProviderModel
import PushProvider
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

/// The removal of nodes whose owners have no device any more, once a day.
@Suite(.timeLimit(.patience)) struct XMPPNodeCleanerTests {
    private static let day = Duration.seconds(86_400)

    private func add(
        _ name: String,
        of installation: String,
        to store: any ProviderStore,
        app: Int64,
        at time: Timestamp
    ) async throws {
        let node = XMPPNodeRecord(
            node: name,
            app: app,
            component: "push.example.org",
            secretHash: Data(repeating: 1, count: 32),
            owner: .installation(installation),
            domain: "example.com",
            createdAt: time
        )
        #expect(try await store.setXMPPNode(node))
    }

    /// The days pass on the time source. A node stays for 30 days, and as long as its owner has a device.
    @Test(arguments: StoreBackend.available)
    func anUnusedNodeGoesAfterItsTime(backend: StoreBackend) async throws {
        try await backend.withStore { store, app in
            let time = ManualTime()
            let start = time.now
            try await store.register(1, app: app) { $0.installation = "phone-1" }
            try await self.add("used", of: "phone-1", to: store, app: app, at: start)
            try await self.add("unused", of: "phone-2", to: store, app: app, at: start)
            let cleaner = XMPPNodeCleaner(store: store, time: time, logger: silentLogger)
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { await cleaner.run() }
                try await eventually {
                    time.advance(by: Self.day)
                    cleaner.wake.signal()
                    return try await store.xmppNode("unused") == nil
                }
                group.cancelAll()
            }
            #expect(time.now > start.advanced(by: .seconds(30 * 86_400)))
            #expect(try await store.xmppNode("used") != nil)
        }
    }
}
