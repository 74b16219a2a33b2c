import Foundation
import ProviderModel
import PushTypes

/// Index ranges that together cover all devices of an audience, and possibly other devices. If the ranges have few
/// entries, looking up their devices is faster than scanning all devices of the app.
struct AudienceDriver: Sendable {
    struct IndexRange: Sendable {
        /// The table of the index, with an `INDEXED BY` clause where SQLite's planner must not choose the index itself.
        var table: String
        /// The name of the column with the device's id.
        var id: String
        var condition: String
        var arguments: [SQLValue]
    }

    private let ranges: [IndexRange]
    let count: Int

    /// The SQL condition that limits rows of `device` to the ranges, with the arguments that
    /// ``arguments(after:upTo:)`` returns.
    var condition: String {
        // An empty list is no SQL.
        guard !self.ranges.isEmpty else { return "FALSE" }
        let ids = self.ranges.map { range in
            """
            SELECT \(range.id) FROM \(range.table)
            WHERE \(range.condition) AND \(range.id) > ? AND \(range.id) <= ?
            """
        }.joined(separator: " UNION ALL ")
        return "id IN (\(ids))"
    }

    /// Returns the arguments of ``condition`` for the devices with ids above `cursor`, up to and including `end`.
    func arguments(after cursor: Int64, upTo end: Int64) -> [SQLValue] {
        self.ranges.flatMap { $0.arguments + [cursor.sqlValue, end.sqlValue] }
    }

    /// Chooses the index ranges with the fewest entries that cover an expression.
    /// - Parameters:
    ///   - kind: The kind of the devices' tokens, or `nil` for all kinds.
    ///   - limit: The maximum number of entries in the chosen ranges.
    /// - Returns: The ranges, or `nil` if all candidates exceed the limit or no index covers the expression.
    static func choose(
        _ expression: AudienceExpression,
        of kind: DeviceTokenKind?,
        app: Int64,
        limit: Int,
        in database: any SQLConnection
    ) throws -> AudienceDriver? {
        guard let candidates = CandidateRanges(expression, of: kind, app: app, database.attributes) else { return nil }
        // Limits the total number of entries that are counted, regardless of the number of conditions.
        let limit = min(limit, Self.maximumCounted / candidates.count)
        var step = min(limit, Self.firstStep)
        while step > 0 {
            if let (ranges, count) = try candidates.smallest(below: step, in: database) {
                return AudienceDriver(ranges: ranges, count: count)
            }
            guard step < limit else { return nil }
            step = min(limit, step * 10)
        }
        return nil
    }

    /// Returns the number of index entries up to which looking up their devices is faster than a scan that stops after
    /// `wanted` matches among `devices` devices. The scan reads about `wanted * devices / entries` devices.
    static func limit(wanted: Int, devices: Int64) -> Int {
        let entries = (8 * Double(max(wanted, 1)) * Double(max(devices, 1))).squareRoot()
        return Int(min(entries, 1e9))
    }

    private static let firstStep = 1000
    private static let maximumCounted = 4_000_000
}

extension AudienceDriver? {
    /// The SQL condition that limits rows of `device` to the index ranges, or an empty string for `nil`.
    var condition: String { self.map { " AND \($0.condition)" } ?? "" }
}

/// A tree of index ranges that cover the devices of an expression, from which the cheapest alternative is chosen.
private indirect enum CandidateRanges {
    /// A leaf, whose ranges together cover the devices of a single condition.
    case ranges([AudienceDriver.IndexRange])
    /// Alternatives, each of which covers the devices alone, so that only one is used.
    case oneOf([CandidateRanges])
    /// Parts that cover the devices only together, so that all are used.
    case all([CandidateRanges])

    /// Creates the candidates for devices with one kind of token, or returns `nil` if no index narrows them. The kind
    /// alert, which most tokens have, is not indexed.
    init?(_ expression: AudienceExpression, of kind: DeviceTokenKind?, app: Int64, _ attributes: AttributeColumns) {
        let ofExpression = CandidateRanges(expression, app: app, attributes)
        guard let kind, kind != .alert else {
            guard let ofExpression else { return nil }
            self = ofExpression
            return
        }
        let ofKind = CandidateRanges.ranges([AudienceSQL.range(of: kind, app: app)])
        self = ofExpression.map { .oneOf([ofKind, $0]) } ?? ofKind
    }

    /// Creates the candidates, or returns `nil` for an expression that no index narrows, such as a negation.
    init?(_ expression: AudienceExpression, app: Int64, _ attributes: AttributeColumns) {
        switch expression {
        case .everyone, .not: return nil
        case .and(let expressions):
            let candidates = expressions.compactMap { CandidateRanges($0, app: app, attributes) }
            guard !candidates.isEmpty else { return nil }
            self = .oneOf(candidates)
        case .or(let expressions):
            let candidates = expressions.compactMap { CandidateRanges($0, app: app, attributes) }
            guard candidates.count == expressions.count else { return nil }
            self = .all(candidates)
        default: self = .ranges(AudienceSQL.ranges(of: expression, app: app, attributes))
        }
    }

    /// The number of leaves in the whole tree, at least 1, among which the permitted effort of counting is divided.
    var count: Int {
        switch self {
        case .ranges: 1
        case .oneOf(let candidates), .all(let candidates): max(1, candidates.reduce(0) { $0 + $1.count })
        }
    }

    /// Returns the alternative with the fewest entries, or `nil` if none has fewer than `limit`.
    func smallest(below limit: Int, in database: any SQLConnection) throws -> (
        ranges: [AudienceDriver.IndexRange], count: Int
    )? {
        switch self {
        case .ranges(let ranges):
            var count = 0
            for range in ranges where count < limit {
                count += try Self.count(range, limit: limit - count, in: database)
            }
            return count < limit ? (ranges, count) : nil
        case .oneOf(let candidates):
            var best: (ranges: [AudienceDriver.IndexRange], count: Int)?
            for candidate in candidates {
                best = try candidate.smallest(below: best?.count ?? limit, in: database) ?? best
            }
            return best
        case .all(let candidates):
            var (ranges, count) = ([AudienceDriver.IndexRange](), 0)
            for candidate in candidates {
                guard let found = try candidate.smallest(below: limit - count, in: database) else { return nil }
                ranges += found.ranges
                count += found.count
            }
            return (ranges, count)
        }
    }

    private static func count(_ range: AudienceDriver.IndexRange, limit: Int, in database: any SQLConnection) throws
        -> Int
    {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM \(range.table) WHERE \(range.condition) LIMIT ?) AS counted"
        return try database.count(sql: sql, SQLArguments(range.arguments + [limit.sqlValue]))
    }
}

extension AudienceSQL {
    /// Returns the SQL condition on a device's kind of token, for which SQLite can use the partial index of kinds.
    static func condition(on kind: DeviceTokenKind) -> String {
        kind == .alert ? "kind = 0" : "kind = \(kind.code) AND kind != 0"
    }

    static func range(of kind: DeviceTokenKind, app: Int64) -> AudienceDriver.IndexRange {
        AudienceDriver.IndexRange(
            table: "device INDEXED BY deviceByKind",
            id: "id",
            condition: "app = ? AND \(self.condition(on: kind))",
            arguments: [app.sqlValue]
        )
    }

    /// Returns the index ranges of a single condition. The list is empty for an expression that is not one.
    static func ranges(
        of expression: AudienceExpression,
        app: Int64,
        _ attributes: AttributeColumns
    ) -> [AudienceDriver.IndexRange] {
        func range(_ table: String, _ id: String, _ condition: String, _ arguments: [any SQLEncodable])
            -> AudienceDriver.IndexRange
        {
            let arguments = [app.sqlValue] + arguments.map(\.sqlValue)
            return AudienceDriver.IndexRange(
                table: table,
                id: id,
                condition: "app = ? AND \(condition)",
                arguments: arguments
            )
        }
        func device(_ index: String, _ condition: String, _ arguments: any SQLEncodable...)
            -> AudienceDriver.IndexRange
        { range("device INDEXED BY \(index)", "id", condition, arguments) }
        func detail(_ table: String, _ condition: String, _ arguments: any SQLEncodable...)
            -> AudienceDriver.IndexRange
        { range(table, "device", condition, arguments) }
        switch expression {
        case .token(let token): return [device("deviceByToken", "token = ?", Data(token.bytes))]
        case .user(let user): return [device("deviceByUser", "user = ?", user)]
        case .tag(let tag): return [detail("deviceTag", "tag = ?", tag)]
        case .attribute(let name, let comparison, let value):
            let (condition, bound) = attributes.condition(on: value, Self.sign(comparison))
            return [detail("deviceAttribute", "name = ? AND \(condition)", name, bound)]
        case .hasAttribute(let name): return [detail("deviceAttribute", "name = ?", name)]
        case .locale(let locale):
            let tag = LocaleTag.stored(locale)
            return [
                device("deviceByLocale", "locale = ?", tag),
                device("deviceByLocale", "locale > ? AND locale < ?", "\(tag)-", "\(tag)."),
            ]
        case .appVersion(let comparison, let version):
            return [device("deviceByVersion", "versionNumber \(Self.sign(comparison)) ?", version.number)]
        case .activity(let activity): return [device("deviceByActivity", "activity = ? AND activity != ''", activity)]
        case .timeZone(let zone): return [device("deviceByTimeZone", "timeZone = ?", zone)]
        case .lastSeen(let comparison, let time):
            return [device("deviceByLastSeen", "registeredAt \(Self.sign(comparison)) ?", time.milliseconds)]
        case .outcomes(let outcomes):
            let (condition, arguments) = Self.condition(on: outcomes)
            let table = "delivery"
            return [.init(table: table, id: "recipient", condition: condition, arguments: arguments)]
        case .everyone, .and, .or, .not: return []
        }
    }
}
