import ProviderModel
import PushStore
import PushSupport
import PushTypes

struct MatrixApp: Hashable, Sendable {
    /// The name of the bridge: an `app_id`, or a pattern that matches several.
    let name: String
    let id: Int64
    let bundleID: Topic
    /// The environment of the app's tokens. If it is `nil`, each registered device has its own, and other tokens belong
    /// to production.
    let environment: PushEnvironment?
    let settings: MatrixSettings
    /// A Boolean value that indicates whether the app has a credential for its environment, without which nothing is
    /// sent.
    let hasCredential: Bool
}

/// Finds the configured Matrix app for an `app_id`: the bridge with this name, or a bridge whose pattern matches it. Of
/// several patterns, the one with the most characters before its first `*` or `?` is chosen. A name that begins with
/// the bundle id of its own app takes precedence over all names of other apps.
struct MatrixAppDirectory: Sendable {
    /// The result of looking up an `app_id`.
    enum Match: Hashable, Sendable {
        case app(MatrixApp)
        /// The result if no configured app matches the `app_id`.
        case none
        /// The result if several patterns match equally well, so that the app cannot be determined.
        case ambiguous
        /// The result if the settings of the matching bridge cannot be read.
        case damaged
    }

    private enum Entry {
        case app(MatrixApp)
        case damaged

        var match: Match {
            switch self {
            case .app(let app): .app(app)
            case .damaged: .damaged
            }
        }
    }

    private var exact: [String: (claim: Int, entry: Entry)] = [:]
    private var patterns: [(pattern: GlobPattern, claim: Int, entry: Entry)] = []
    /// A Boolean value that indicates whether an app has UnifiedPush addresses as pushkeys, which are forwarded.
    private(set) var forwardsAddresses = false

    /// Creates the directory of the readable and the damaged bridges.
    /// - Parameter damaged: The names of bridges whose settings cannot be read, each with its app's claim to the name
    ///   (``BridgeRecord/claim(to:of:)``).
    init(_ apps: [MatrixApp], damaged: [String: Int] = [:]) {
        for app in apps {
            self.add(app.name, BridgeRecord.claim(to: app.name, of: app.bundleID.name), .app(app))
            if app.settings.unifiedPush { self.forwardsAddresses = true }
        }
        for (name, claim) in damaged { self.add(name, claim, .damaged) }
    }

    private mutating func add(_ name: String, _ claim: Int, _ entry: Entry) {
        if let pattern = GlobPattern(name) {
            self.patterns.append((pattern, claim, entry))
        } else {
            self.exact[name] = (claim, entry)
        }
    }

    func match(_ appID: String) -> Match {
        guard appID.unicodeScalars.prefix(MatrixSettings.maximumName + 1).count <= MatrixSettings.maximumName else {
            return .none
        }
        // The claim takes precedence over the number of literal characters. An exact name counts as having more of them
        // than any pattern.
        var best: (claim: Int, literals: Int, match: Match)?
        if let (claim, entry) = self.exact[appID] { best = (claim, Int.max, entry.match) }
        guard !self.patterns.isEmpty else { return best?.match ?? .none }
        let scalars = Array(appID.unicodeScalars)
        for (pattern, claim, entry) in self.patterns {
            let rank = (claim, pattern.literals)
            let known = best.map { ($0.claim, $0.literals) } ?? (-1, 0)
            guard rank >= known, pattern.matches(scalars) else { continue }
            best = (claim, pattern.literals, rank == known ? .ambiguous : entry.match)
        }
        return best?.match ?? .none
    }
}

extension MatrixAppDirectory {
    /// The age at which cached apps are read again even if no bridge has changed, because credentials change too.
    private static let longestAge: Duration = .seconds(10)

    static func cache(_ store: any AppStore & BridgeStore, time: any TimeSource) -> BridgeCache<MatrixAppDirectory> {
        BridgeCache(store: store, aging: (Self.longestAge, time)) { try await Self.read($0) }
    }

    /// The app of a bridge, and the environments for which the app has a credential.
    private struct Owner {
        let app: AppRecord
        let environments: Set<PushEnvironment>
    }

    private static func read(_ store: any AppStore & BridgeStore) async throws -> MatrixAppDirectory {
        let names = try await store.bridgeOwners(kind: .matrix)
        let bridges = try await store.bridges(kind: .matrix)
        // Each app is looked up once for all its bridges.
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

    /// Returns the Matrix app that a bridge configures, or `nil` if the bridge's settings cannot be read.
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
