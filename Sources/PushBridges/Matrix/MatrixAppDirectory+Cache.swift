import PushStore
import PushSupport
import PushTypes

extension MatrixAppDirectory {
    /// The time after which they are read again without a change of bridges, because credentials change too.
    private static let longestAge: Duration = .seconds(10)

    /// Returns the configured apps, which are kept in memory.
    static func cache(_ store: any AppStore & BridgeStore, time: any TimeSource) -> BridgeCache<MatrixAppDirectory> {
        BridgeCache(store: store, aging: (Self.longestAge, time)) { try await Self.read($0) }
    }

    /// The app of bridges, as the store knows it.
    private struct Owner {
        let app: AppRecord
        /// The environments for which it has a credential.
        let environments: Set<PushEnvironment>
    }

    private static func read(_ store: any AppStore & BridgeStore) async throws -> MatrixAppDirectory {
        let names = try await store.bridgeOwners(kind: .matrix)
        let bridges = try await store.bridges(kind: .matrix)
        // Each app is looked up once, however many bridges it has.
        var owners: [Int64: Owner] = [:]
        for id in Set(names.values).union(bridges.map(\.app)) {
            guard let app = try await store.app(id: id) else { continue }
            owners[id] = Owner(app: app, environments: try await store.environments(app: id))
        }
        let apps = bridges.compactMap { bridge in owners[bridge.app].flatMap { Self.app(bridge, of: $0) } }
        let readable = Set(apps.map(\.name))
        var damaged: [String: Int] = [:]
        for (name, app) in names where !readable.contains(name) {
            damaged[name] = owners[app].map { BridgeRecord.claim(to: name, of: $0.app.bundleID.name) } ?? 0
        }
        return MatrixAppDirectory(apps, damaged: damaged)
    }

    /// Returns the app of a bridge; `nil` if the settings cannot be read.
    private static func app(_ bridge: BridgeRecord, of owner: Owner) -> MatrixApp? {
        guard let settings = try? MatrixSettings(bridge) else { return nil }
        return MatrixApp(
            name: bridge.name,
            id: owner.app.id,
            bundleID: owner.app.bundleID,
            environment: bridge.environment,
            settings: settings,
            hasCredential: owner.environments.contains(bridge.environment ?? .production)
        )
    }
}
