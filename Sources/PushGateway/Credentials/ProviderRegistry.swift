import Foundation
import GRDB
import PushTypes
import PushWire
import Synchronization

/// Apps, provider keys and provider certificates: in memory for the checks of every push, in SQLite to last.
///
/// A change is written to SQLite first and then to memory. Whoever keeps something that was read here looks at
/// ``changes`` to learn whether it may be outdated.
final class ProviderRegistry: TrustDirectory, Sendable {
    /// Whether a change did something, found the same already there, something else, or no more room.
    enum Change: Hashable, Sendable {
        case added
        case alreadyThere
        case conflict
        case full
    }

    /// Of apps, of keys, and of certificates.
    static let capacity = 10_000
    /// Of one team in one environment (reference 2.1).
    static let maximumTeamScopedKeys = 2
    static let maximumTopicKeys = 200
    static let maximumTopicsPerKey = 400

    private struct State {
        var apps: [Topic: ProviderApp] = [:]
        var keys: [String: RegisteredKey] = [:]
        var certificates: [String: ProviderCertificate] = [:]
        /// Every topic that can be pushed to, by its hash.
        var topics: [TopicHash: Topic] = [:]

        mutating func index(_ topics: some Sequence<Topic>) {
            for topic in topics { self.topics[TopicHash(topic)] = topic }
        }
    }

    private let database: any DatabaseWriter
    private let state: Mutex<State>
    private let changeCount = Atomic<UInt64>(0)

    init(database: any DatabaseWriter) throws {
        self.database = database
        let records = try database.read(ProviderRecords.init)
        var state = State()
        for app in records.apps {
            state.apps[app.bundleID] = app
            state.index(app.bundleID.derivedTopics)
        }
        for key in records.keys { state.keys[key.keyID] = key }
        for certificate in records.certificates {
            state.certificates[certificate.serial] = certificate
            state.index(certificate.topics)
        }
        self.state = Mutex(state)
    }

    var changes: UInt64 { self.changeCount.load(ordering: .acquiring) }

    func topic(for hash: TopicHash) -> Topic? { self.state.withLock { $0.topics[hash] } }

    func app(_ bundleID: Topic) -> ProviderApp? { self.state.withLock { $0.apps[bundleID] } }

    /// Returns the token length that the app of a topic has set; `nil` if none.
    func tokenLength(for topic: Topic) -> Int? {
        self.state.withLock { ($0.apps[topic] ?? $0.apps[topic.bundleID])?.tokenLength }
    }

    func key(_ keyID: String) -> RegisteredKey? {
        self.state.withLock { $0.keys[keyID] }.flatMap { $0.revokedAt == nil ? $0 : nil }
    }

    /// One that this registry does not know was not revoked here.
    func isRevoked(certificate serial: String) -> Bool {
        self.state.withLock { $0.certificates[serial] }?.revokedAt != nil
    }

    // MARK: Lists

    /// By bundle id, those after `last`.
    func apps(after last: String?, limit: Int) -> [ProviderApp] {
        Self.page(self.state.withLock { Array($0.apps.values) }, by: { $0.bundleID.name }, after: last, limit: limit)
    }

    /// By key id, those after `last`; revoked ones too.
    func keys(after last: String?, limit: Int) -> [RegisteredKey] {
        Self.page(self.state.withLock { Array($0.keys.values) }, by: { $0.keyID }, after: last, limit: limit)
    }

    /// By serial number, those after `last`; revoked ones too.
    func certificates(after last: String?, limit: Int) -> [ProviderCertificate] {
        Self.page(self.state.withLock { Array($0.certificates.values) }, by: { $0.serial }, after: last, limit: limit)
    }

    private static func page<Value>(
        _ values: [Value],
        by name: (Value) -> String,
        after last: String?,
        limit: Int
    ) -> [Value] {
        let later = last.map { last in values.filter { name($0) > last } } ?? values
        return Array(later.sorted { name($0) < name($1) }.prefix(max(0, limit)))
    }

    // MARK: Changes

    func add(app: ProviderApp) async throws -> Change {
        let (known, count) = self.state.withLock { ($0.apps[app.bundleID], $0.apps.count) }
        if let known { return known.teamID == app.teamID ? .alreadyThere : .conflict }
        guard count < Self.capacity else { return .full }
        try await self.database.write { try ProviderRecords.insert(app, in: $0) }
        self.change { state in
            state.apps[app.bundleID] = app
            state.index(app.bundleID.derivedTopics)
        }
        return .added
    }

    /// The app as it is then. `nil` if there is no such app.
    func update(app bundleID: Topic, _ change: ProviderAppChange) async throws -> ProviderApp? {
        guard try await self.database.write({ try ProviderRecords.update(app: bundleID, change, in: $0) }) else {
            return nil
        }
        self.change { state in
            guard var app = state.apps[bundleID] else { return }
            change.apply(to: &app)
            state.apps[bundleID] = app
        }
        return self.app(bundleID)
    }

    /// Whether the app was there.
    func remove(app bundleID: Topic) async throws -> Bool {
        guard self.app(bundleID) != nil else { return false }
        try await self.database.write { try ProviderRecords.delete(app: bundleID, in: $0) }
        self.change { state in
            state.apps[bundleID] = nil
            state.topics = [:]
            for app in state.apps.keys { state.index(app.derivedTopics) }
            for certificate in state.certificates.values { state.index(certificate.topics) }
        }
        return true
    }

    /// A key id whose key was revoked is a conflict.
    func add(key: RegisteredKey) async throws -> Change {
        let (known, all) = self.state.withLock { ($0.keys[key.keyID], $0.keys) }
        if let known { return known == key ? .alreadyThere : .conflict }
        guard all.count < Self.capacity, !Self.isFull(for: key, all.values) else { return .full }
        try await self.database.write { try ProviderRecords.insert(key, in: $0) }
        self.change { $0.keys[key.keyID] = key }
        return .added
    }

    private static func isFull(for key: RegisteredKey, _ keys: some Collection<RegisteredKey>) -> Bool {
        let others = keys.lazy.filter { $0.teamID == key.teamID && $0.revokedAt == nil }
        switch key.scope {
        case .team: return false
        case .environment: return others.filter { $0.scope == key.scope }.count >= Self.maximumTeamScopedKeys
        case .topics(let own):
            let same = others.filter { other in
                guard case .topics(let scope) = other.scope else { return false }
                return scope.environment == own.environment
            }
            return same.count >= Self.maximumTopicKeys
        }
    }

    /// Whether there was such a key, not revoked yet.
    func revoke(key keyID: String, now: Timestamp) async throws -> Bool {
        guard self.key(keyID) != nil else { return false }
        try await self.database.write { try ProviderRecords.revoke(key: keyID, now: now, in: $0) }
        self.change { $0.keys[keyID]?.revokedAt = now }
        return true
    }

    /// `false` when there is no room.
    func add(certificate: ProviderCertificate) async throws -> Bool {
        guard self.state.withLock({ $0.certificates.count }) < Self.capacity else { return false }
        try await self.database.write { try ProviderRecords.insert(certificate, in: $0) }
        self.change { state in
            state.certificates[certificate.serial] = certificate
            state.index(certificate.topics)
        }
        return true
    }

    /// Whether there was such a certificate, not revoked yet.
    func revoke(certificate serial: String, now: Timestamp) async throws -> Bool {
        let known = self.state.withLock { $0.certificates[serial] }
        guard let known, known.revokedAt == nil else { return false }
        try await self.database.write { try ProviderRecords.revoke(certificate: serial, now: now, in: $0) }
        self.change { $0.certificates[serial]?.revokedAt = now }
        return true
    }

    private func change(_ body: (inout State) -> Void) {
        self.state.withLock { body(&$0) }
        self.changeCount.add(1, ordering: .releasing)
    }
}
