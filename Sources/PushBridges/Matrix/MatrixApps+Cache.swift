import PushStore
import PushSupport
import PushTypes

extension MatrixApps {
    /// The time after which they are read again without a change of bridges, because apps and credentials change too.
    private static let longestAge: Duration = .seconds(10)

    /// Returns the configured apps, which are kept in memory.
    static func cache(_ store: any ProviderStore, time: any TimeSource) -> BridgeCache<MatrixApps> {
        BridgeCache(store: store, aging: (Self.longestAge, time)) { try await Self.read($0) }
    }

    private static func read(_ store: any ProviderStore) async throws -> MatrixApps {
        var damaged = try await store.bridgeNames(kind: .matrix)
        var apps: [MatrixApp] = []
        for bridge in try await store.bridges(kind: .matrix) {
            guard let app = try await Self.app(bridge, store) else { continue }
            apps.append(app)
            damaged.remove(bridge.name)
        }
        return MatrixApps(apps, damaged: damaged)
    }

    /// Returns the app of a bridge; `nil` if that or the settings cannot be read.
    private static func app(_ bridge: BridgeRecord, _ store: any ProviderStore) async throws -> MatrixApp? {
        guard let settings = try? MatrixSettings(bridge), let app = try await store.app(id: bridge.app)
        else { return nil }
        return MatrixApp(
            name: bridge.name,
            id: app.id,
            bundleID: app.bundleID,
            environment: bridge.environment,
            settings: settings,
            hasCredential: try await store.environments(app: app.id).contains(bridge.environment ?? .production)
        )
    }
}
