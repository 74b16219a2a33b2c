import PushTypes
import PushWire
import Synchronization

/// The registry of apps, provider keys and certificates, which are in the database, and in memory to check every push.
///
/// A change is written to the database first and then applied in memory. Caches of its values compare ``changes`` to
/// detect that they may be outdated.
final class ProviderRegistry: TrustDirectory, Sendable {
    enum Change: Hashable, Sendable {
        case added
        /// The result if the same app, key or certificate is registered already. Nothing was changed.
        case alreadyThere
        /// The result if a different app, key or certificate is registered under the same name. Nothing was changed.
        case conflict
        /// The result if the maximum number of apps, keys or certificates is reached. Nothing was added.
        case full
    }

    /// The maximum number of apps, of keys, and of certificates. Adding another fails with ``Change/full``.
    static let capacity = 10_000
    /// The maximum number of keys of one team for one environment (reference 2.1). Further ones are rejected.
    static let maximumTeamScopedKeys = 2
    /// The maximum number of topic-specific keys of one team in one environment (reference 2.1). Further ones are
    /// rejected.
    static let maximumTopicKeys = 200
    /// The maximum number of topics of one key (reference 2.1). A key with more is rejected.
    static let maximumTopicsPerKey = 400

    private struct State {
        var apps: [Topic: ProviderApp] = [:]
        var keys: [String: RegisteredKey] = [:]
        var certificates: [String: ProviderCertificate] = [:]
        var topics: [TopicHash: Topic] = [:]

        mutating func index(_ topics: some Sequence<Topic>) {
            for topic in topics { self.topics[TopicHash(topic)] = topic }
        }
    }

    private let database: GatewayDatabase
    private let state: Mutex<State>
    private let changeCount = Atomic<UInt64>(0)

    init(database: GatewayDatabase) throws {
        self.database = database
        let (apps, keys, certificates) = try database.read { tables in
            (try tables.credentials.apps(), try tables.credentials.keys(), try tables.credentials.certificates())
        }
        var state = State()
        for app in apps {
            state.apps[app.bundleID] = app
            state.index(app.bundleID.derivedTopics)
        }
        for key in keys { state.keys[key.keyID] = key }
        for certificate in certificates {
            state.certificates[certificate.serial] = certificate
            state.index(certificate.topics)
        }
        self.state = Mutex(state)
    }

    var changes: UInt64 { self.changeCount.load(ordering: .acquiring) }

    func topic(for hash: TopicHash) -> Topic? { self.state.withLock { $0.topics[hash] } }

    func app(_ bundleID: Topic) -> ProviderApp? { self.state.withLock { $0.apps[bundleID] } }

    /// Returns the length of device tokens that is set for the app of a topic, or `nil` for the gateway's default.
    func tokenLength(for topic: Topic) -> Int? { topic.owner { self.app($0) }?.tokenLength }

    func key(_ keyID: String) -> RegisteredKey? {
        self.state.withLock { $0.keys[keyID] }.flatMap { $0.revokedAt == nil ? $0 : nil }
    }

    /// Returns whether a certificate was revoked. A certificate that is not in the registry counts as not revoked.
    func isRevoked(certificate serial: String) -> Bool {
        self.state.withLock { $0.certificates[serial] }?.revokedAt != nil
    }

    // MARK: Lists

    /// Returns at most `limit` apps in the order of their bundle ids. They follow the bundle id `last`, or are the
    /// first ones if `last` is `nil`.
    func apps(after last: String?, limit: Int) -> [ProviderApp] {
        Self.page(self.state.withLock { Array($0.apps.values) }, by: { $0.bundleID.name }, after: last, limit: limit)
    }

    /// Returns at most `limit` keys in the order of their ids, including revoked ones. They follow the id `last`, or
    /// are the first ones if `last` is `nil`.
    func keys(after last: String?, limit: Int) -> [RegisteredKey] {
        Self.page(self.state.withLock { Array($0.keys.values) }, by: { $0.keyID }, after: last, limit: limit)
    }

    /// Returns at most `limit` certificates by serial number, including revoked ones. They follow `last`, or are the
    /// first ones if it is `nil`.
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
        try await self.database.write { try $0.credentials.insert(app) }
        self.change { state in
            state.apps[app.bundleID] = app
            state.index(app.bundleID.derivedTopics)
        }
        return .added
    }

    /// Changes an app.
    /// - Returns: The changed app, or `nil` if the app does not exist.
    func update(app bundleID: Topic, _ change: ProviderAppChange) async throws -> ProviderApp? {
        guard try await self.database.write({ try $0.credentials.update(app: bundleID, change) }) else { return nil }
        self.change { state in
            guard var app = state.apps[bundleID] else { return }
            change.apply(to: &app)
            state.apps[bundleID] = app
        }
        return self.app(bundleID)
    }

    /// Removes an app.
    /// - Returns: Whether the app existed.
    func remove(app bundleID: Topic) async throws -> Bool {
        guard self.app(bundleID) != nil else { return false }
        try await self.database.write { try $0.credentials.delete(app: bundleID) }
        self.change { state in
            state.apps[bundleID] = nil
            state.topics = [:]
            for app in state.apps.keys { state.index(app.derivedTopics) }
            for certificate in state.certificates.values { state.index(certificate.topics) }
        }
        return true
    }

    /// Adds a key. The id of a revoked key cannot be used again. The result is then ``Change/conflict``.
    func add(key: RegisteredKey) async throws -> Change {
        let (known, all) = self.state.withLock { ($0.keys[key.keyID], $0.keys) }
        if let known { return known == key ? .alreadyThere : .conflict }
        guard all.count < Self.capacity, !Self.isFull(for: key, all.values) else { return .full }
        try await self.database.write { try $0.credentials.insert(key) }
        self.change { $0.keys[key.keyID] = key }
        return .added
    }

    private static func isFull(for key: RegisteredKey, _ keys: some Collection<RegisteredKey>) -> Bool {
        let others = keys.lazy.filter { $0.teamID == key.teamID && $0.revokedAt == nil }
        switch key.scope {
        case .team: return false
        case .environment: return others.filter { $0.scope == key.scope }.count >= Self.maximumTeamScopedKeys
        case .topics(let own):
            return others.filter { $0.scope.topics?.environment == own.environment }.count >= Self.maximumTopicKeys
        }
    }

    /// Revokes a key.
    /// - Returns: Whether the key existed and was not revoked before.
    func revoke(key keyID: String, now: Timestamp) async throws -> Bool {
        guard self.key(keyID) != nil else { return false }
        try await self.database.write { try $0.credentials.revoke(key: keyID, now: now) }
        self.change { $0.keys[keyID]?.revokedAt = now }
        return true
    }

    /// Adds a certificate.
    /// - Returns: `false` if ``capacity`` is reached.
    func add(certificate: ProviderCertificate) async throws -> Bool {
        guard self.state.withLock({ $0.certificates.count }) < Self.capacity else { return false }
        try await self.database.write { try $0.credentials.insert(certificate) }
        self.change { state in
            state.certificates[certificate.serial] = certificate
            state.index(certificate.topics)
        }
        return true
    }

    /// Revokes a certificate.
    /// - Returns: Whether the certificate existed and was not revoked before.
    func revoke(certificate serial: String, now: Timestamp) async throws -> Bool {
        let known = self.state.withLock { $0.certificates[serial] }
        guard let known, known.revokedAt == nil else { return false }
        try await self.database.write { try $0.credentials.revoke(certificate: serial, now: now) }
        self.change { $0.certificates[serial]?.revokedAt = now }
        return true
    }

    private func change(_ body: (inout State) -> Void) {
        self.state.withLock { body(&$0) }
        self.changeCount.add(1, ordering: .releasing)
    }
}

protocol TrustDirectory: Sendable {
    /// A number that changes with every change of apps, keys or certificates, by which caches detect that they are
    /// outdated.
    var changes: UInt64 { get }
    /// Returns a registered key, or `nil` if it is unknown or was revoked.
    func key(_ keyID: String) -> RegisteredKey?
    func app(_ bundleID: Topic) -> ProviderApp?
    func isRevoked(certificate serial: String) -> Bool
}
