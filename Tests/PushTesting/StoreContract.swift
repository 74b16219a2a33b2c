import Foundation
package import ProviderModel
package import PushStore
import PushSupport
package import PushTypes
import Testing

/// A kind of store. The contract suites run once with each kind.
package struct StoreBackend: Sendable, CustomTestStringConvertible {
    /// A new store of one test.
    struct OpenStore: Sendable {
        let store: SQLStore
        /// Closes the store, and removes it.
        let end: @Sendable () async throws -> Void

        init(_ store: SQLStore, end: @escaping @Sendable () async throws -> Void = {}) {
            (self.store, self.end) = (store, end)
        }
    }

    package let name: String
    /// Opens an empty store, which may use a folder.
    private let open: @Sendable (String) async throws -> OpenStore

    package var testDescription: String { self.name }

    /// The kinds that can be tested here.
    package static let available = [Self.sqlite] + Self.postgreSQL

    private static let sqlite = StoreBackend(name: "SQLite") { folder in
        OpenStore(
            try SQLStore(
                path: "\(folder)/provider.sqlite",
                masterKey: try .fixture(7),
                limits: .patient,
                budgets: BudgetRegistry(BudgetLimits.patient)
            )
        )
    }

    #if !PostgreSQL
    private static let postgreSQL: [StoreBackend] = []
    #endif

    init(name: String, open: @escaping @Sendable (String) async throws -> OpenStore) {
        (self.name, self.open) = (name, open)
    }

    /// Runs `body` with a store that holds only the vectors' app, and examines the store after that.
    package func withStore(_ body: (any ProviderStore, Int64) async throws -> Void) async throws {
        guard let bundleID = Topic(Vectors.bundleID) else { return }
        try await withTemporaryDirectory { directory in
            let opened = try await self.open(directory)
            let result: Result<Void, any Error>
            do {
                let store = opened.store
                try await body(
                    store,
                    try await store.addApp(bundleID: bundleID, name: nil, now: Vectors.issuedAt).app.id
                )
                #expect(try await store.checkIntegrity() == [])
                result = .success(())
            } catch {
                result = .failure(error)
            }
            try await opened.end()
            try result.get()
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
