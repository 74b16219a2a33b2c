import Foundation
package import ProviderModel
package import PushStore
import PushSupport
package import PushTypes
import Testing

/// A kind of store. The contract suites run once with each kind.
package struct StoreBackend: Sendable, CustomTestStringConvertible {
    package let name: String
    private let open: @Sendable (String) throws -> any ProviderStore
    /// Returns the faults of a store after a test, in words.
    private let check: @Sendable (any ProviderStore) async throws -> [String]

    package var testDescription: String { self.name }

    /// The kinds that can be tested here.
    package static let available = [
        StoreBackend(
            name: "SQLite",
            open: { folder in
                try SQLStore(
                    path: "\(folder)/provider.sqlite",
                    masterKey: try .fixture(7),
                    limits: .patient,
                    budgets: BudgetRegistry(BudgetLimits.patient)
                )
            },
            check: { try await ($0 as? SQLStore)?.checkIntegrity() ?? [] }
        )
    ]

    /// Runs `body` with a store that holds only the vectors' app, and examines the store after that.
    package func withStore(_ body: (any ProviderStore, Int64) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let store = try self.open(directory)
            guard let bundleID = Topic(Vectors.bundleID) else { return }
            try await body(store, try await store.addApp(bundleID: bundleID, name: nil, now: Vectors.issuedAt).app.id)
            #expect(try await self.check(store) == [])
        }
    }
}

extension StoreBackend {
    /// Runs a test with a notification for all devices, whose only shard is claimed.
    package func withClaim(
        devices: Int = 1,
        _ body: (any ProviderStore, NotificationRecord, ShardClaim) async throws -> Void
    ) async throws {
        try await self.withStore { store, app in
            for number in 1...devices { try await store.register(number, app: app) }
            let notification = try await store.start(app: app)
            try await body(store, notification, try await store.claimed())
        }
    }
}

extension MasterKey {
    /// Returns a key of 32 equal bytes.
    package static func fixture(_ byte: UInt8) throws -> MasterKey {
        guard let key = MasterKey(bytes: [UInt8](repeating: byte, count: MasterKey.length)) else {
            throw StoreError.wrongMasterKey
        }
        return key
    }
}

extension DeviceToken {
    /// Returns a different token for each number.
    package static func numbered(_ number: Int) -> DeviceToken {
        let bytes = withUnsafeBytes(of: UInt64(bitPattern: Int64(number)).bigEndian, Array.init)
        return DeviceToken(bytes: [0xaa] + Array(repeating: 0x55, count: 23) + bytes) ?? .numbered(0)
    }
}

extension NotificationRecord {
    /// Returns a notification with the vectors' payload.
    package static func fixture(
        app: Int64,
        to audience: Audience,
        environment: PushEnvironment? = nil,
        expiration: Expiration = .servicePolicy,
        createdAt: Timestamp = Vectors.issuedAt
    ) throws -> NotificationRecord {
        guard let topic = Topic(Vectors.bundleID) else { throw StoreError.wrongMasterKey }
        return NotificationRecord(
            id: UUID(),
            app: app,
            content: NotificationContent(
                topic: topic,
                pushType: .alert,
                priority: .immediate,
                expiration: expiration,
                collapseID: "inbox",
                payload: Data(Vectors.payload.utf8)
            ),
            audience: audience,
            environment: environment,
            createdAt: createdAt
        )
    }
}
