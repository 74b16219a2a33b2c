import GRDB
import PushTypes

/// The search for bridges that lose pushes to other apps, in steps of one Matrix bridge, as patterns take long to compare.
struct OverruledSearch: Sendable {
    /// A Matrix bridge to whose name other apps have a better claim.
    private struct Candidate: Sendable {
        let name: String
        let app: Int64
        let bundleID: Topic
        /// The bundle ids of the other apps, the longest first.
        let others: [Topic]
    }

    /// The bridges so far: those that are binary, then those of Matrix, each by name.
    private(set) var found: [OverruledBridge]
    private var rest: ArraySlice<Candidate>
    /// The names of Matrix bridges that begin with the bundle ids of their apps, by these.
    private let names: [Topic: [String]]

    /// Reads the names of bridges.
    /// - Parameter apps: The apps whose bridges are searched for.
    init(apps: [Int64], in database: Database) throws {
        var bundleIDs: [Int64: Topic] = [:]
        for row in try database.rows(sql: "SELECT id, bundleID FROM app WHERE isErased = 0") {
            guard let id = row["id"] as Int64?, let bundleID = row.topic("bundleID") else { continue }
            bundleIDs[id] = bundleID
        }
        let ids = Dictionary(bundleIDs.map { ($0.value, $0.key) }) { first, _ in first }
        var found: [OverruledBridge] = []
        for (name, app) in try Self.bridges(.binary, of: apps, in: database) {
            guard let bundleID = bundleIDs[app], let topic = Topic(name),
                let owner = topic.owner(lookingUp: { ids[$0] == nil ? nil : $0 }), owner != bundleID
            else { continue }
            found.append(OverruledBridge(kind: .binary, name: name, app: app, bundleID: bundleID, owner: owner))
        }
        var candidates: [Candidate] = []
        for (name, app) in try Self.bridges(.matrix, of: apps, in: database) {
            guard let bundleID = bundleIDs[app] else { continue }
            let claim = BridgeRecord.claim(to: name, of: bundleID.name)
            let others = BridgeRecord.bundleIDs(beginning: name).reversed().compactMap { Topic($0) }
                .filter { $0.name.utf8.count > claim && ids[$0] != nil }
            if !others.isEmpty {
                candidates.append(Candidate(name: name, app: app, bundleID: bundleID, others: others))
            }
        }
        var names: [Topic: [String]] = [:]
        let others = Set(candidates.flatMap(\.others)).compactMap { ids[$0] }
        for (name, app) in try Self.bridges(.matrix, of: others, in: database) {
            guard let bundleID = bundleIDs[app], BridgeRecord.claim(to: name, of: bundleID.name) > 0 else { continue }
            names[bundleID, default: []].append(name)
        }
        (self.found, self.rest, self.names) = (found, candidates[...], names)
    }

    /// Returns the names of the bridges of a kind of some apps, in their order, and the app of each.
    private static func bridges(
        _ kind: BridgeKind,
        of apps: [Int64],
        in database: Database
    ) throws -> [(name: String, app: Int64)] {
        let list = apps.map(String.init).joined(separator: ", ")
        let sql = "SELECT name, app FROM bridge WHERE kind = ? AND app IN (\(list)) ORDER BY name"
        return try database.rows(sql: sql, [kind.rawValue], isKept: false)
            .compactMap { row -> (name: String, app: Int64)? in
                guard let name = row["name"] as String?, let app = row["app"] as Int64? else { return nil }
                return (name, app)
            }
    }

    /// Compares the next Matrix bridge with those of the apps that have a better claim to its name.
    /// - Parameter limit: The most bridges that are found.
    /// - Returns: `true` if no more are to be compared.
    mutating func compareNext(limit: Int) -> Bool {
        guard self.found.count < limit, let bridge = self.rest.popFirst() else {
            self.found = Array(self.found.prefix(limit))
            return true
        }
        let owner = bridge.others.first { other in
            self.names[other]?.contains { GlobPattern.overlap($0, bridge.name) } ?? false
        }
        if let owner {
            self.found.append(
                OverruledBridge(
                    kind: .matrix,
                    name: bridge.name,
                    app: bridge.app,
                    bundleID: bridge.bundleID,
                    owner: owner
                )
            )
        }
        return false
    }
}
