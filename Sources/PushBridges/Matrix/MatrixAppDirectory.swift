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

/// Finds the configured Matrix apps. An `app_id` is that of the bridge with this name, or of the one whose pattern it matches; of several
/// such patterns that with the most characters before its first `*` or `?`. A name that begins with its app's bundle id comes before
/// all that another app has.
struct MatrixAppDirectory: Sendable {
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

    private var exact: [String: (claim: Int, entry: Entry)] = [:]
    private var patterns: [(pattern: GlobPattern, claim: Int, entry: Entry)] = []
    /// `true` if an app forwards pushkeys that are addresses.
    private(set) var forwardsAddresses = false

    /// - Parameter damaged: The names of bridges that cannot be read, each with its app's claim to it
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

    /// Returns the app with an `app_id`.
    func match(_ appID: String) -> Match {
        guard appID.unicodeScalars.prefix(MatrixSettings.maximumName + 1).count <= MatrixSettings.maximumName else {
            return .none
        }
        // The claim decides, then the characters: an exact name has more of them than any pattern.
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
