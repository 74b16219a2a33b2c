package import ProviderModel
import PushTypes

extension SQLStore {
    /// Returns the reason for which a new bridge is refused, or `nil` if it can be added.
    static func refusal(of bridge: BridgeRecord, in database: any SQLConnection) throws -> BridgeChangeResult? {
        let count = try database.count(sql: "SELECT count(*) FROM bridge WHERE app = ?", [bridge.app])
        guard count < BridgeRecord.maximumOfApp else { return .tooMany }
        guard bridge.kind == .matrix else { return nil }
        let bundleID = try AppRows(database: database).bundleID(of: bridge.app)
        let claim = bundleID.map { BridgeRecord.claim(to: bridge.name, of: $0.name) } ?? 0
        let isOthers = try Self.hasOwner(bridge, beyond: claim, in: database)
        return try isOthers || Self.overlapsOthers(bridge, claim, in: database) ? .nameOverlaps : nil
    }

    /// Returns whether the name of a Matrix bridge begins with another app's bundle id that is longer than `claim`, the
    /// length of its own app's bundle id in the name. Such a bridge would capture pushes for an app without a bridge.
    private static func hasOwner(_ bridge: BridgeRecord, beyond claim: Int, in database: any SQLConnection) throws
        -> Bool
    {
        let bundleIDs = BridgeRecord.bundleIDs(beginning: bridge.name).filter { $0.utf8.count > claim }
        guard !bundleIDs.isEmpty else { return false }
        let places = bundleIDs.map { _ in "?" }.joined(separator: ", ")
        let sql = "SELECT 1 FROM app WHERE id != ? AND isErased = 0 AND bundleID IN (\(places))"
        let arguments = SQLArguments([bridge.app.sqlValue] + bundleIDs.map(\.sqlValue))
        return try database.hasRow(sql: sql, arguments, isKept: false)
    }

    /// Returns whether some Matrix app id matches both this bridge and a bridge of another app.
    ///
    /// A bridge whose name begins with its app's bundle id is exempt, so that no other app can block it with a pattern
    /// such as `*`.
    private static func overlapsOthers(_ bridge: BridgeRecord, _ claim: Int, in database: any SQLConnection) throws
        -> Bool
    {
        let others = """
            SELECT bridge.name AS name, app.bundleID AS bundleID FROM bridge JOIN app ON app.id = bridge.app
            WHERE bridge.kind = ? AND bridge.app != ?
            """
        return try database.rows(sql: others, [bridge.kind.rawValue, bridge.app]).contains { row in
            guard let name = row["name"] as String?, let owner = row["bundleID"] as String?,
                GlobPattern.overlap(name, bridge.name)
            else { return false }
            return BridgeRecord.claim(to: name, of: owner) >= claim
        }
    }

    /// Returns the app that owns the topic of an old provider, or `nil` if no app owns it.
    static func owner(ofTopic name: String, in database: any SQLConnection) throws -> Int64? {
        let sql = "SELECT id FROM app WHERE bundleID = ? AND isErased = 0"
        return try Topic(name)?.owner { try database.integer(sql: sql, [$0.name]) }
    }

    package func overruledBridges(apps: [Int64], limit: Int) async throws -> [OverruledBridge] {
        try await self.database.query(from: nil as OverruledSearch?) { database, search in
            var search = try search ?? OverruledSearch(apps: apps, in: database)
            return search.compareNext(limit: limit) ? .done(search.found) : .next(search)
        }
    }
}

/// A search for the bridges whose pushes go to bridges of other apps (``OverruledBridge``). Each step compares a single
/// Matrix bridge, because comparing glob patterns takes long.
struct OverruledSearch: Sendable {
    /// A Matrix bridge to whose name other apps have a stronger claim.
    private struct Candidate: Sendable {
        let name: String
        let app: Int64
        let bundleID: Topic
        /// The bundle ids of the apps with a stronger claim, longest first. They are longer prefixes of the name than
        /// the bundle id of the bridge's own app.
        let others: [Topic]
    }

    /// The overruled bridges found so far: binary bridges first, then Matrix bridges, each sorted by name.
    private(set) var found: [OverruledBridge]
    private var rest: ArraySlice<Candidate>
    /// The names of Matrix bridges that begin with their own app's bundle id, keyed by bundle id.
    private let names: [Topic: [String]]

    /// Creates a search, and reads the names of the bridges from the database.
    /// - Parameter apps: The apps whose overruled bridges are searched for.
    init(apps: [Int64], in database: any SQLConnection) throws {
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

    /// Returns the bridges of one kind that the apps have, sorted by name.
    private static func bridges(
        _ kind: BridgeKind,
        of apps: [Int64],
        in database: any SQLConnection
    ) throws -> [(name: String, app: Int64)] {
        guard !apps.isEmpty else { return [] }
        let list = apps.map(String.init).joined(separator: ", ")
        let sql = "SELECT name, app FROM bridge WHERE kind = ? AND app IN (\(list)) ORDER BY name"
        return try database.rows(sql: sql, [kind.rawValue], isKept: false)
            .compactMap { row -> (name: String, app: Int64)? in
                guard let name = row["name"] as String?, let app = row["app"] as Int64? else { return nil }
                return (name, app)
            }
    }

    /// Compares the next Matrix bridge with the bridges of the apps that have a stronger claim to its name.
    /// - Parameter limit: The maximum number of bridges to find.
    /// - Returns: Whether the search is complete.
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
