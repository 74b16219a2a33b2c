#if PostgreSQL
import Foundation
import PushSupport

/// The progress of a transfer, as its target records it in the table of ``TransferMark``.
struct TransferProgress {
    /// The last copied key of each table of which rows were copied.
    private(set) var keys: [String: [SQLValue]] = [:]
    /// The number of copied rows of each of these tables.
    private var counts: [String: Int] = [:]

    /// The number of copied rows of all tables.
    var rows: Int { self.counts.values.reduce(0, +) }

    /// Creates the table in an empty target. A row without a name contains the origin of the rows.
    static func create(for origin: String, in database: any SQLConnection) throws {
        let columns = "name TEXT PRIMARY KEY, reached TEXT NOT NULL, copied BIGINT NOT NULL"
        try database.run(sql: "CREATE TABLE \(TransferMark.table) (\(columns))")
        try database.insert(into: TransferMark.table, ["name": "", "reached": origin, "copied": 0])
    }

    /// Returns the origin of the rows, or `nil` for a database that is not the target of an unfinished transfer.
    static func origin(_ database: any SQLConnection) throws -> String? {
        guard try database.hasTable(TransferMark.table) else { return nil }
        return try database.value(sql: "SELECT reached FROM \(TransferMark.table) WHERE name = ''")
    }

    static func remove(_ database: any SQLConnection) throws {
        try database.run(sql: "DROP TABLE \(TransferMark.table)")
    }

    init(_ database: any SQLConnection) throws {
        for row in try database.rows(sql: "SELECT * FROM \(TransferMark.table) WHERE name != ''") {
            guard let name = row["name"] as String?, let text = row["reached"] as String?,
                let key = try? JSONValue(parsing: Data(text.utf8))
            else { throw DamagedRow(table: TransferMark.table) }
            self.keys[name] = try key.elements.map(Self.value)
            self.counts[name] = row["copied"]
        }
    }

    /// Records rows of a table in the transaction that inserts them.
    /// - Parameter key: The last key of the table, or `nil` if it has no rows.
    mutating func add(
        _ count: Int,
        until key: [SQLValue]?,
        of table: TransferTable,
        in database: any SQLConnection
    ) throws {
        guard let key else { return }
        let sum = self.counts[table.name, default: 0] + count
        self.counts[table.name] = sum
        let text = String(decoding: try JSONValue.array(key.map(Self.json)).text, as: UTF8.self)
        try database.replace(in: TransferMark.table, key: ["name": table.name], ["reached": text, "copied": sum])
    }

    private static func json(_ value: SQLValue) throws -> JSONValue {
        switch value {
        case .integer(let number): .integer(number)
        case .text(let text): .string(text)
        case .bytes(let bytes): .array([.string(bytes.base64EncodedString())])
        case .null, .real: throw DamagedRow(table: TransferMark.table)
        }
    }

    private static func value(_ json: JSONValue) throws -> SQLValue {
        switch json {
        case .integer(let number): return .integer(number)
        case .string(let text): return .text(text)
        default:
            guard let bytes = json.elements.first?.stringValue.flatMap({ Data(base64Encoded: $0) })
            else { throw DamagedRow(table: TransferMark.table) }
            return .bytes(bytes)
        }
    }
}

/// The count of the rows that a phase of a transfer has read or copied.
struct TransferMeter {
    private let phase: StoreTransfer.Step.Phase
    private let total: Int
    private let report: StoreTransfer.Report
    private let start = ContinuousClock.now
    /// The number of rows that were done before the phase began.
    private let before: Int
    private var done: Int

    init(_ phase: StoreTransfer.Step.Phase, done: Int = 0, total: Int, _ report: @escaping StoreTransfer.Report) {
        (self.phase, self.before, self.done) = (phase, done, done)
        (self.total, self.report) = (total, report)
    }

    mutating func add(_ count: Int, _ table: TransferTable) throws {
        self.done += count
        let rate = Double(self.done - self.before) / max(0.001, (.now - self.start) / .seconds(1))
        try self.report(
            StoreTransfer.Step(phase: self.phase, table: table.name, rows: self.done, total: self.total, rate: rate)
        )
    }
}
#endif
