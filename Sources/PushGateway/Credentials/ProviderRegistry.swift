import Foundation
import GRDB
import PushProtocol
import Synchronization

/// Apps and provider keys: in memory for the checks of every push, in SQLite to last.
final class ProviderRegistry: Sendable {
    /// Whether a change did something, found the same already there, or something else.
    enum Change: Hashable, Sendable {
        case added
        case alreadyThere
        case conflict
    }

    private struct State {
        var apps: [Topic: String] = [:]
        var keys: [String: RegisteredKey] = [:]
        /// Every topic that a registered app can have, by its hash.
        var topics: [TopicHash: Topic] = [:]

        mutating func add(app: Topic, team: String) {
            self.apps[app] = team
            for topic in app.derivedTopics { self.topics[TopicHash(topic)] = topic }
        }
    }

    private let commit: GroupCommit
    private let state: Mutex<State>

    init(database: any DatabaseReader, commit: GroupCommit) throws {
        self.commit = commit
        var state = State()
        try database.read { database in
            for row in try Row.fetchAll(database, sql: "SELECT * FROM app") {
                guard let bundleID = (row["bundleID"] as String?).flatMap({ Topic($0) }),
                    let team = row["teamID"] as String?
                else { continue }
                state.add(app: bundleID, team: team)
            }
            for row in try Row.fetchAll(database, sql: "SELECT * FROM key") {
                guard let teamID = row["teamID"] as String?, let keyID = row["keyID"] as String?,
                    let publicKey = (row["publicKey"] as Data?).map(Array.init)
                else { continue }
                state.keys[keyID] = RegisteredKey(teamID: teamID, keyID: keyID, publicKey: publicKey)
            }
        }
        self.state = Mutex(state)
    }

    var apps: [(bundleID: Topic, teamID: String)] {
        self.state.withLock { $0.apps.map { ($0.key, $0.value) } }.sorted { $0.bundleID.name < $1.bundleID.name }
    }

    var keys: [RegisteredKey] { self.state.withLock { Array($0.keys.values) }.sorted { $0.keyID < $1.keyID } }

    func topic(for hash: TopicHash) -> Topic? { self.state.withLock { $0.topics[hash] } }
    func key(_ keyID: String) -> RegisteredKey? { self.state.withLock { $0.keys[keyID] } }
    func team(ofApp bundleID: Topic) -> String? { self.state.withLock { $0.apps[bundleID] } }

    func add(app: Topic, team: String) async throws -> Change {
        if let owner = self.team(ofApp: app) { return owner == team ? .alreadyThere : .conflict }
        try await self.commit.write { database in
            try database.execute(sql: "INSERT INTO app (bundleID, teamID) VALUES (?, ?)", arguments: [app.name, team])
        }
        self.state.withLock { $0.add(app: app, team: team) }
        return .added
    }

    func add(key: RegisteredKey) async throws -> Change {
        if let known = self.key(key.keyID) { return known == key ? .alreadyThere : .conflict }
        try await self.commit.write { database in
            try database.execute(
                sql: "INSERT INTO key (keyID, teamID, publicKey) VALUES (?, ?, ?)",
                arguments: [key.keyID, key.teamID, Data(key.publicKey)]
            )
        }
        self.state.withLock { $0.keys[key.keyID] = key }
        return .added
    }
}
