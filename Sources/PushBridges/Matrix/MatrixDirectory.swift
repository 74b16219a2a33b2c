import PushStore
import PushSupport
import PushTypes
import Synchronization

/// Keeps the configured Matrix apps in memory, so that a request reads none of them from disk.
///
/// They are read again when a bridge has changed, and after ``longestAge``, because apps and credentials change too.
final class MatrixDirectory: Sendable {
    private static let longestAge: Duration = .seconds(10)

    private struct State {
        var apps = MatrixApps([])
        var generation: Int?
        var readAt = Timestamp(milliseconds: 0)
    }

    private let store: any ProviderStore
    private let time: any TimeSource
    private let state = Mutex(State())

    init(store: any ProviderStore, time: any TimeSource) {
        (self.store, self.time) = (store, time)
    }

    /// Returns the apps as they are now.
    /// - Throws: An error of the store, if bridges have changed and cannot be read.
    func apps() async throws -> MatrixApps {
        let (generation, now) = (self.store.bridgeGeneration, self.time.steady)
        let known = self.state.withLock { state in
            (apps: state.apps, isCurrent: state.generation == generation, age: now.since(state.readAt))
        }
        if known.isCurrent, known.age < Self.longestAge { return known.apps }
        do {
            return try await self.read()
        } catch {
            guard known.isCurrent else { throw error }
            return known.apps
        }
    }

    /// Reads the apps from the store.
    @discardableResult
    func read() async throws -> MatrixApps {
        // A change after this moment is noticed by the next request.
        let (generation, now) = (self.store.bridgeGeneration, self.time.steady)
        var damaged = try await self.store.bridgeNames(kind: .matrix)
        var apps: [MatrixApp] = []
        for bridge in try await self.store.bridges(kind: .matrix) {
            guard let app = try await self.app(bridge) else { continue }
            apps.append(app)
            damaged.remove(bridge.name)
        }
        let table = MatrixApps(apps, damaged: damaged)
        self.state.withLock { $0 = State(apps: table, generation: generation, readAt: now) }
        return table
    }

    /// Returns the app of a bridge; `nil` if that or the settings cannot be read.
    private func app(_ bridge: BridgeRecord) async throws -> MatrixApp? {
        guard let settings = try? MatrixSettings(bridge), let app = try await self.store.app(id: bridge.app)
        else { return nil }
        return MatrixApp(
            name: bridge.name,
            id: app.id,
            bundleID: app.bundleID,
            environment: bridge.environment,
            settings: settings,
            hasCredential: try await self.store.environments(app: app.id).contains(bridge.environment ?? .production)
        )
    }
}
