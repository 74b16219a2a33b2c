import PushStore
import PushSupport
import PushTypes

/// An app that Matrix homeservers can push to.
struct MatrixApp: Hashable, Sendable {
    /// The name of the bridge: an `app_id` or a pattern.
    let name: String
    /// The app's id in the store.
    let id: Int64
    let bundleID: Topic
    /// The environment of its tokens; `nil` is that of each device, and production for tokens without one.
    let environment: PushEnvironment?
    let settings: MatrixSettings
    /// `false` if the app has no credential for the environment: nothing can be sent.
    let hasCredential: Bool
}

/// The configured Matrix apps. An `app_id` is that of the bridge with this name, or of the one whose pattern it matches; of several
/// such patterns that with the most characters before its first `*` or `?`.
struct MatrixApps: Sendable {
    /// The result of a look-up.
    enum Match: Hashable, Sendable {
        case app(MatrixApp)
        /// There is no such app.
        case none
        /// Several patterns match equally well: nobody knows which app is meant.
        case ambiguous
        /// The bridge of this name cannot be read.
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

    private var exact: [String: Entry] = [:]
    private var patterns: [(pattern: GlobPattern, entry: Entry)] = []
    /// `true` if an app forwards pushkeys that are addresses.
    private(set) var forwardsAddresses = false

    /// - Parameter damaged: The names of bridges that cannot be read.
    init(_ apps: [MatrixApp], damaged: Set<String> = []) {
        for app in apps {
            self.add(app.name, .app(app))
            if app.settings.unifiedPush { self.forwardsAddresses = true }
        }
        for name in damaged { self.add(name, .damaged) }
    }

    private mutating func add(_ name: String, _ entry: Entry) {
        if let pattern = GlobPattern(name) { self.patterns.append((pattern, entry)) } else { self.exact[name] = entry }
    }

    /// Returns the app with an `app_id`.
    func match(_ appID: String) -> Match {
        guard appID.unicodeScalars.prefix(MatrixSettings.maximumName + 1).count <= MatrixSettings.maximumName else {
            return .none
        }
        if let entry = self.exact[appID] { return entry.match }
        guard !self.patterns.isEmpty else { return .none }
        let scalars = Array(appID.unicodeScalars)
        var best: (literals: Int, match: Match)?
        for (pattern, entry) in self.patterns where pattern.matches(scalars) {
            guard let known = best, known.literals >= pattern.literals else {
                best = (pattern.literals, entry.match)
                continue
            }
            if known.literals == pattern.literals { best = (pattern.literals, .ambiguous) }
        }
        return best?.match ?? .none
    }
}
