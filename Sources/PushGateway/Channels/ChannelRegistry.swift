import Foundation
import PushTypes
import Synchronization

/// The registry of all apps' broadcast channels, which are in the database, and in memory to check every broadcast.
///
/// Channel ids are random and have 128 bits, so that no two are equal.
final class ChannelRegistry: Sendable {
    /// The maximum number of channels of one app in one environment (reference 4.1). Beyond it, no channel can be
    /// created.
    static let capacity = 10_000
    private static let idLength = 16

    private struct App: Hashable {
        var environment: PushEnvironment
        var bundleID: Topic
    }

    private let database: GatewayDatabase
    private let capacity: Int
    private let apps: Mutex<[App: [String: ChannelPolicy]]>

    init(database: GatewayDatabase, capacity: Int = ChannelRegistry.capacity) throws {
        (self.database, self.capacity) = (database, capacity)
        let channels = try database.read { try $0.channels.channels() }
        self.apps = Mutex(
            channels.reduce(into: [:]) { apps, channel in
                let app = App(environment: channel.environment, bundleID: channel.name.bundleID)
                apps[app, default: [:]][channel.name.id] = channel.policy
            }
        )
    }

    /// Returns the policy of a channel, or `nil` if the channel does not exist.
    func policy(of id: String, app bundleID: Topic, in environment: PushEnvironment) -> ChannelPolicy? {
        let app = App(environment: environment, bundleID: bundleID)
        return self.apps.withLock { $0[app]?[id] }
    }

    /// Returns the ids of an app's channels in alphabetical order.
    func channels(app bundleID: Topic, in environment: PushEnvironment) -> [String] {
        let app = App(environment: environment, bundleID: bundleID)
        return self.apps.withLock { Array($0[app, default: [:]].keys) }.sorted()
    }

    /// Creates a channel with a random id.
    /// - Returns: The id, or `nil` if the app has ``capacity`` channels in this environment.
    func create(
        _ policy: ChannelPolicy,
        app bundleID: Topic,
        in environment: PushEnvironment,
        now: Timestamp
    ) async throws -> String? {
        let app = App(environment: environment, bundleID: bundleID)
        let id = Self.randomID()
        // Added before it is written, so that concurrent requests cannot exceed the limit. Nobody knows the channel's
        // id yet.
        let hasRoom = self.apps.withLock { apps in
            guard apps[app, default: [:]].count < self.capacity else { return false }
            apps[app, default: [:]][id] = policy
            return true
        }
        guard hasRoom else { return nil }
        let name = ChannelName(bundleID: bundleID, id: id)
        do {
            try await self.database.write { tables in
                try tables.channels.insert(.init(environment: environment, name: name, policy: policy), at: now)
            }
        } catch {
            self.apps.withLock { $0[app]?[id] = nil }
            throw error
        }
        return id
    }

    /// Deletes a channel.
    /// - Returns: Whether the channel existed. Of two concurrent calls, only one returns `true`.
    func delete(_ id: String, app bundleID: Topic, in environment: PushEnvironment) async throws -> Bool {
        guard self.policy(of: id, app: bundleID, in: environment) != nil else { return false }
        let name = ChannelName(bundleID: bundleID, id: id)
        try await self.database.write { try $0.channels.delete(name, in: environment) }
        let app = App(environment: environment, bundleID: bundleID)
        return self.apps.withLock { $0[app]?.removeValue(forKey: id) != nil }
    }

    /// Deletes all channels of an app that was removed or may no longer use broadcasts (reference 4.1).
    /// - Returns: The deleted channels.
    func deleteAll(app bundleID: Topic) async throws -> [(environment: PushEnvironment, id: String)] {
        try await self.database.write { try $0.channels.deleteAll(app: bundleID) }
        return self.apps.withLock { apps in
            PushEnvironment.allCases.flatMap { environment in
                let channels = apps.removeValue(forKey: App(environment: environment, bundleID: bundleID)) ?? [:]
                return channels.keys.map { (environment, $0) }
            }
        }
    }

    private static func randomID() -> String { Data(RandomBytes.make(Self.idLength)).base64EncodedString() }
}
