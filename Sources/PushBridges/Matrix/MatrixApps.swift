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

/// The configured Matrix apps. An `app_id` is that of the bridge with this name, or of the only one whose pattern it matches.
struct MatrixApps: Sendable {
    /// The result of a look-up.
    enum Match: Hashable, Sendable {
        case app(MatrixApp)
        /// There is no such app.
        case none
        /// Several patterns match: nobody knows which app is meant.
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
        var found: Entry?
        for (pattern, entry) in self.patterns where pattern.matches(scalars) {
            guard found == nil else { return .ambiguous }
            found = entry
        }
        return found?.match ?? .none
    }
}

/// A pattern in which `*` stands for any characters, also none, and `?` for one.
struct GlobPattern: Hashable, Sendable {
    private let scalars: [Unicode.Scalar]

    /// Returns `nil` for a text without `*` and `?`.
    init?(_ text: String) {
        guard text.unicodeScalars.contains(where: { $0 == "*" || $0 == "?" }) else { return nil }
        self.scalars = Array(text.unicodeScalars)
    }

    /// Returns `true` if the whole text matches, in time that grows with the product of both lengths.
    func matches(_ text: [Unicode.Scalar]) -> Bool {
        var (position, next) = (0, 0)
        // The last star, and the position up to which it has been tried.
        var star: (next: Int, position: Int)?
        while position < text.count {
            if next < self.scalars.count, self.scalars[next] == "*" {
                star = (next + 1, position)
                next += 1
            } else if next < self.scalars.count, self.scalars[next] == "?" || self.scalars[next] == text[position] {
                (position, next) = (position + 1, next + 1)
            } else if let last = star {
                star = (last.next, last.position + 1)
                (position, next) = (last.position + 1, last.next)
            } else {
                return false
            }
        }
        return self.scalars[next...].allSatisfy { $0 == "*" }
    }
}
