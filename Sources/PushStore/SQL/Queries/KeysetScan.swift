import ProviderModel
import PushTypes

/// A scan over an index in its order, which stops after enough matches, or after a bounded number of rows.
///
/// A filter without an index may read a million rows for each match. Because of the bound, a page may have few
/// entries, together with the position up to which rows were read.
struct KeysetScan {
    /// The maximum number of rows that all scans for one page check together, above which the page ends early.
    static let maximumRows = 20_000
    /// The total size of the long records on a page, in bytes, above which the page ends early.
    static let maximumBytes = 1024 * 1024

    /// A matching row, by the values that determine its position.
    struct Entry {
        var key: SQLValue
        var number: Int64
    }

    struct Result {
        var found: [Entry] = []
        /// The last checked row, after which the next page begins, or `nil` if no row follows it.
        var end: Entry?
    }

    /// The table, with the `INDEXED BY` clause for the index in whose order it is read.
    var table: String
    /// The column by which the rows are sorted. Rows with equal values are sorted by ``number``, which is unique.
    var key: String
    var number: String
    var isDescending: Bool
    /// The SQL conditions that limit the scanned range of the index.
    var range: String
    var rangeArguments: [SQLValue]
    /// The SQL conditions that are checked for each row of the range.
    var filter: [String]
    var filterArguments: [SQLValue]

    /// Scans until `limit` matching rows are found, or `maximum` rows have been read.
    func run(limit: Int, rows maximum: Int, in database: any SQLConnection) throws -> Result {
        let direction = self.isDescending ? "DESC" : "ASC"
        let order =
            self.key == self.number
            ? "\(self.number) \(direction)" : "\(self.key) \(direction), \(self.number) \(direction)"
        let sql = """
            SELECT \(self.key) AS key, \(self.number) AS number, \(self.fits) AS fits
            FROM \(self.table) WHERE \(self.range) ORDER BY \(order)
            """
        let arguments = SQLArguments(self.filterArguments + self.rangeArguments)
        let rows = try database.cursor(sql: sql, arguments, isKept: false)
        var result = Result()
        var visited = 0
        while let row = try rows.next() {
            guard let number = row["number"] as Int64? else { continue }
            visited += 1
            let entry = Entry(key: row["key"] ?? .null, number: number)
            if row["fits"] as Bool? == true { result.found.append(entry) }
            guard result.found.count < limit, visited < maximum else {
                result.end = entry
                break
            }
        }
        return result
    }

    /// Counts the matching rows among the first `maximum` rows of the range. With more rows, the total is inexact.
    func total(rows maximum: Int, in database: any SQLConnection) throws -> ListTotal {
        let sql = """
            SELECT count(*) AS visited, count(*) FILTER (WHERE fits) AS fitting FROM (
                SELECT \(self.fits) AS fits FROM \(self.table) WHERE \(self.range) LIMIT ?) AS scanned
            """
        let arguments = self.filterArguments + self.rangeArguments + [(maximum + 1).sqlValue]
        guard let row = try database.row(sql: sql, SQLArguments(arguments), isKept: false)
        else { return ListTotal(count: 0, isExact: true) }
        let (visited, fitting) = (row["visited"] as Int? ?? 0, row["fitting"] as Int? ?? 0)
        return ListTotal(count: min(fitting, maximum), isExact: visited <= maximum)
    }

    private var fits: String { self.filter.isEmpty ? "TRUE" : self.filter.map { "(\($0))" }.joined(separator: " AND ") }
}

extension KeysetScan {
    /// Scans several ranges, and merges the results in their common order.
    /// - Returns: At most `limit` entries, and the position up to which they are complete, or `nil` if no rows remain.
    static func merged(_ scans: [KeysetScan], limit: Int, in database: any SQLConnection) throws -> Result {
        guard let first = scans.first else { return Result() }
        let rows = max(1, self.maximumRows / scans.count)
        var all: [Entry] = []
        var horizon: Entry?
        for scan in scans {
            let result = try scan.run(limit: limit, rows: max(rows, limit), in: database)
            all += result.found
            if let end = result.end { horizon = horizon.map { first.precedes(end, $0) ? end : $0 } ?? end }
        }
        all.sort(by: first.precedes)
        // Rows after the horizon may not have been read.
        if let horizon { all.removeAll { first.precedes(horizon, $0) } }
        guard all.count > limit else { return Result(found: all, end: horizon) }
        return Result(found: Array(all.prefix(limit)), end: all[limit - 1])
    }

    func precedes(_ left: Entry, _ right: Entry) -> Bool {
        let order = Self.order(left.key, right.key)
        let isLess = order == 0 ? left.number < right.number : order < 0
        let isEqual = order == 0 && left.number == right.number
        return self.isDescending ? !isLess && !isEqual : isLess
    }

    /// Compares two values of a column as SQLite does: numbers by their value, strings and blobs by their bytes.
    private static func order(_ left: SQLValue, _ right: SQLValue) -> Int {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): return left < right ? -1 : left > right ? 1 : 0
        case (.text(let left), .text(let right)): return Self.order(Array(left.utf8), Array(right.utf8))
        case (.bytes(let left), .bytes(let right)): return Self.order(Array(left), Array(right))
        case (.null, .null): return 0
        case (.null, _): return -1
        default: return 1
        }
    }

    private static func order(_ left: [UInt8], _ right: [UInt8]) -> Int {
        left.lexicographicallyPrecedes(right) ? -1 : right.lexicographicallyPrecedes(left) ? 1 : 0
    }
}

/// The lists for which the database stores the range of times in each block of 1,024 row numbers.
///
/// Row numbers rise with the times of rows only while the clock is not set back. Rows with the same time may have
/// either order.
enum TimeBlocks: Int64 {
    case notifications = 0
    case audit = 1

    /// Restricts a scan to the blocks that may contain rows in a range of times, which has no bound where `from` or
    /// `to` is `nil`. The caller has to check each row's time as well.
    ///
    /// If the clock was wrong for a single row, any number of other blocks may lie between the first and the last of
    /// these blocks. SQLite skips their rows in the index, and they do not count as read.
    func bound(_ scan: inout KeysetScan, from: Timestamp?, to: Timestamp?) {
        guard from != nil || to != nil else { return }
        let blocks = "FROM timeBlock WHERE list = \(self.rawValue)"
        var mayFit = ""
        if let from {
            let endsLater = " AND latest >= \(from.milliseconds)"
            scan.range += """
                 AND \(scan.number) >= coalesce((SELECT block << 10 \(blocks)\(endsLater) ORDER BY block LIMIT 1),
                    9223372036854775807)
                """
            mayFit += endsLater
        }
        if let to {
            let beginsEarlier = " AND earliest < \(to.milliseconds)"
            scan.range += """
                 AND \(scan.number) < coalesce((SELECT (block + 1) << 10 \(blocks)\(beginsEarlier)
                    ORDER BY block DESC LIMIT 1), 0)
                """
            mayFit += beginsEarlier
        }
        scan.range += " AND (\(scan.number) >> 10) IN (SELECT block \(blocks)\(mayFit))"
    }
}
