import Foundation
import GRDB
import PushTypes

/// Ranges of indexes that together hold every device for which an expression holds, and maybe others: where they are
/// few, they are looked up one by one instead of walking over all devices.
struct AudienceDriver: Sendable {
    /// Entries of one index.
    struct Range: Sendable {
        /// The table, and the index where the planner must not choose.
        var table: String
        /// The column with the device's id.
        var id: String
        var condition: String
        var arguments: [DatabaseValue]
    }

    /// A device may stand in several.
    private let ranges: [Range]

    /// Selects ids for `IN (…)`, with ``arguments(after:upTo:)``.
    var sql: String {
        self.ranges.map { range in
            """
            SELECT \(range.id) FROM \(range.table)
            WHERE \(range.condition) AND \(range.id) > ? AND \(range.id) <= ?
            """
        }.joined(separator: " UNION ALL ")
    }

    func arguments(after cursor: Int64, upTo end: Int64) -> [DatabaseValue] {
        self.ranges.flatMap { $0.arguments + [cursor.databaseValue, end.databaseValue] }
    }

    /// The fewest entries that will do.
    /// - Parameter limit: more entries than this are too many.
    /// - Returns: `nil` if no index narrows the expression down as far.
    static func choose(
        _ expression: AudienceExpression,
        app: Int64,
        limit: Int,
        in database: Database
    ) throws -> AudienceDriver? {
        guard let candidates = Candidates(expression, app: app) else { return nil }
        // However many conditions there are, no more entries than this are counted.
        let limit = min(limit, Self.maximumCounted / candidates.count)
        var step = min(limit, Self.firstStep)
        while step > 0 {
            if let (ranges, _) = try candidates.smallest(below: step, in: database) {
                return AudienceDriver(ranges: ranges)
            }
            guard step < limit else { return nil }
            step = min(limit, step * 10)
        }
        return nil
    }

    /// How many entries are worth looking up to find `wanted` devices where there are `devices` in all: a walk over all
    /// of them reads about `wanted * devices / entries` for that.
    static func limit(wanted: Int, devices: Int64) -> Int {
        let entries = (8 * Double(max(wanted, 1)) * Double(max(devices, 1))).squareRoot()
        return Int(min(entries, 1e9))
    }

    private static let firstStep = 1000
    private static let maximumCounted = 4_000_000
}

extension AudienceDriver? {
    /// What it adds to a condition on a row of `device`.
    var condition: String { self.map { " AND id IN (\($0.sql))" } ?? "" }
}

/// What could drive an expression.
private indirect enum Candidates {
    /// All of these entries.
    case ranges([AudienceDriver.Range])
    /// Any one of these is enough.
    case oneOf([Candidates])
    /// All of these are needed.
    case all([Candidates])

    /// `nil` where no index knows: everybody, and the opposite of anything.
    init?(_ expression: AudienceExpression, app: Int64) {
        switch expression {
        case .everyone, .not: return nil
        case .and(let expressions):
            let candidates = expressions.compactMap { Candidates($0, app: app) }
            guard !candidates.isEmpty else { return nil }
            self = .oneOf(candidates)
        case .or(let expressions):
            let candidates = expressions.compactMap { Candidates($0, app: app) }
            guard candidates.count == expressions.count else { return nil }
            self = .all(candidates)
        default: self = .ranges(AudienceSQL.ranges(of: expression, app: app))
        }
    }

    /// Leaves.
    var count: Int {
        switch self {
        case .ranges: 1
        case .oneOf(let candidates), .all(let candidates): max(1, candidates.reduce(0) { $0 + $1.count })
        }
    }

    /// The smallest set of entries, if there are fewer than `limit` in it.
    func smallest(below limit: Int, in database: Database) throws -> (ranges: [AudienceDriver.Range], count: Int)? {
        switch self {
        case .ranges(let ranges):
            var count = 0
            for range in ranges where count < limit {
                count += try Self.count(range, limit: limit - count, in: database)
            }
            return count < limit ? (ranges, count) : nil
        case .oneOf(let candidates):
            var best: (ranges: [AudienceDriver.Range], count: Int)?
            for candidate in candidates {
                best = try candidate.smallest(below: best?.count ?? limit, in: database) ?? best
            }
            return best
        case .all(let candidates):
            var (ranges, count) = ([AudienceDriver.Range](), 0)
            for candidate in candidates {
                guard let found = try candidate.smallest(below: limit - count, in: database) else { return nil }
                ranges += found.ranges
                count += found.count
            }
            return (ranges, count)
        }
    }

    private static func count(_ range: AudienceDriver.Range, limit: Int, in database: Database) throws -> Int {
        let statement = try database.cachedStatement(
            sql: "SELECT count(*) FROM (SELECT 1 FROM \(range.table) WHERE \(range.condition) LIMIT ?)"
        )
        return try Int.fetchOne(
            statement,
            arguments: StatementArguments(range.arguments + [limit.databaseValue])
        ) ?? 0
    }
}

extension AudienceSQL {
    /// The entries of indexes for a single condition.
    static func ranges(of expression: AudienceExpression, app: Int64) -> [AudienceDriver.Range] {
        func device(_ index: String, _ condition: String, _ arguments: any DatabaseValueConvertible...)
            -> AudienceDriver.Range
        {
            AudienceDriver.Range(
                table: "device INDEXED BY \(index)",
                id: "id",
                condition: "app = ? AND \(condition)",
                arguments: [app.databaseValue] + arguments.map(\.databaseValue)
            )
        }
        func detail(_ table: String, _ condition: String, _ arguments: any DatabaseValueConvertible...)
            -> AudienceDriver.Range
        {
            AudienceDriver.Range(
                table: table,
                id: "device",
                condition: "app = ? AND \(condition)",
                arguments: [app.databaseValue] + arguments.map(\.databaseValue)
            )
        }
        switch expression {
        case .token(let token): return [device("deviceByToken", "token = ?", Data(token.bytes))]
        case .user(let user): return [device("deviceByUser", "user = ?", user)]
        case .tag(let tag): return [detail("deviceTag", "tag = ?", tag)]
        case .attribute(let name, let comparison, let value):
            let (condition, bound) = Self.condition(on: value, comparison)
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
        case .timeZone(let zone): return [device("deviceByTimeZone", "timeZone = ?", zone)]
        case .lastSeen(let comparison, let moment):
            return [device("deviceByLastSeen", "registeredAt \(Self.sign(comparison)) ?", moment.milliseconds)]
        case .everyone, .and, .or, .not: return []
        }
    }
}
