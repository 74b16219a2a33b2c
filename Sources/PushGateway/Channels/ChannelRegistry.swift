import Foundation
import GRDB
import PushTypes
import Synchronization

/// What is kept for the followers of a channel that are away (reference 4.1).
enum ChannelPolicy: Int, Hashable, Sendable {
    case nothing = 0
    /// The most recent broadcast, for at most 8 hours.
    case newest = 1
}

/// The broadcast channels of all apps: in memory for the checks of every broadcast, in SQLite to last.
///
/// Ids are random and of 128 bits, so that none comes twice.
final class ChannelRegistry: Sendable {
    /// Of one app in one environment (reference 4.1).
    static let capacity = 10_000
    private static let idLength = 16

    private struct App: Hashable {
        var environment: PushEnvironment
        var bundleID: Topic
    }

    private let database: any DatabaseWriter
    private let capacity: Int
    private let apps: Mutex<[App: [String: ChannelPolicy]]>

    init(database: any DatabaseWriter, capacity: Int = ChannelRegistry.capacity) throws {
        self.database = database
        self.capacity = capacity
        self.apps = Mutex(try database.read(Self.load))
    }

    /// Rows that hold something else than was written are left out.
    private static func load(_ database: Database) throws -> [App: [String: ChannelPolicy]] {
        var apps: [App: [String: ChannelPolicy]] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT * FROM channel") {
            guard let environment = (row["environment"] as String?).flatMap(PushEnvironment.init(rawValue:)),
                let bundleID = (row["bundleID"] as String?).flatMap({ Topic($0) }), let id = row["id"] as String?,
                let policy = (row["policy"] as Int?).flatMap(ChannelPolicy.init(rawValue:))
            else { continue }
            apps[App(environment: environment, bundleID: bundleID), default: [:]][id] = policy
        }
        return apps
    }

    /// `nil` for a channel that does not exist.
    func policy(of id: String, app bundleID: Topic, in environment: PushEnvironment) -> ChannelPolicy? {
        let app = App(environment: environment, bundleID: bundleID)
        return self.apps.withLock { $0[app]?[id] }
    }

    /// In alphabetical order.
    func channels(app bundleID: Topic, in environment: PushEnvironment) -> [String] {
        let app = App(environment: environment, bundleID: bundleID)
        return self.apps.withLock { Array($0[app, default: [:]].keys) }.sorted()
    }

    /// Makes a channel; its id, or `nil` if the app has too many.
    func create(
        _ policy: ChannelPolicy,
        app bundleID: Topic,
        in environment: PushEnvironment,
        now: Timestamp
    ) async throws -> String? {
        let app = App(environment: environment, bundleID: bundleID)
        let id = Self.randomID()
        // Its place is taken first, so that many at a time cannot exceed the limit; its id is still a secret.
        let hasRoom = self.apps.withLock { apps in
            guard apps[app, default: [:]].count < self.capacity else { return false }
            apps[app, default: [:]][id] = policy
            return true
        }
        guard hasRoom else { return nil }
        do {
            try await self.database.write { database in
                try database.execute(
                    sql: "INSERT INTO channel (environment, bundleID, id, policy, createdAt) VALUES (?, ?, ?, ?, ?)",
                    arguments: [environment.rawValue, bundleID.name, id, policy.rawValue, now.milliseconds]
                )
            }
        } catch {
            self.apps.withLock { $0[app]?[id] = nil }
            throw error
        }
        return id
    }

    /// Whether there was such a channel.
    func delete(_ id: String, app bundleID: Topic, in environment: PushEnvironment) async throws -> Bool {
        guard self.policy(of: id, app: bundleID, in: environment) != nil else { return false }
        try await self.database.write { database in
            try database.execute(
                sql: "DELETE FROM channel WHERE environment = ? AND bundleID = ? AND id = ?",
                arguments: [environment.rawValue, bundleID.name, id]
            )
        }
        let app = App(environment: environment, bundleID: bundleID)
        return self.apps.withLock { $0[app]?.removeValue(forKey: id) != nil }
    }

    /// The app is no more, or may not use broadcasts any more (reference 4.1). What was deleted.
    func deleteAll(app bundleID: Topic) async throws -> [(environment: PushEnvironment, id: String)] {
        try await self.database.write { database in
            try database.execute(sql: "DELETE FROM channel WHERE bundleID = ?", arguments: [bundleID.name])
        }
        return self.apps.withLock { apps in
            PushEnvironment.allCases.flatMap { environment in
                let channels = apps.removeValue(forKey: App(environment: environment, bundleID: bundleID)) ?? [:]
                return channels.keys.map { (environment, $0) }
            }
        }
    }

    private static func randomID() -> String {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<Self.idLength).map { _ in UInt8.random(in: 0...255, using: &generator) })
            .base64EncodedString()
    }
}
