#if PostgreSQL
import Crypto
import Foundation
import PushSupport

/// A row that is copied: the values of ``TransferTable/columns`` and, in the table of attributes, those of
/// ``AttributeColumns/ofOneTypeEach``. It is the same for both engines.
typealias TransferRow = [SQLValue]

/// A table whose rows are copied from one engine to the other.
struct TransferTable: Sendable {
    /// The table of attributes, whose other columns depend on the engine.
    private static let attributes = "deviceAttribute"

    let name: String
    /// The columns that both engines have. SQLite has `rowid` without a definition.
    private let columns: [String]
    /// The columns by which rows are read in batches; empty for a table that has one row.
    let key: [String]
    /// The column whose values PostgreSQL assigns, or `nil` if there is none.
    let identity: String?

    /// Returns all tables, each after those to which it refers. Those that triggers fill are the last ones.
    /// - Parameter database: A connection to a schema of PostgreSQL with all tables.
    static func all(in database: any SQLConnection) throws -> [TransferTable] {
        let sql = """
            SELECT child.relname AS child, parent.relname AS parent FROM pg_catalog.pg_constraint
            JOIN pg_catalog.pg_class AS child ON child.oid = conrelid
            JOIN pg_catalog.pg_class AS parent ON parent.oid = confrelid
            WHERE contype = 'f' AND connamespace = (
                SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = current_schema())
            """
        let references = Dictionary(grouping: try database.rows(sql: sql)) { ($0["child"] as String?) ?? "" }
        let names = StoredTable.all.map(\.name)
        var ordered: [String] = []
        func add(_ name: String) {
            guard !ordered.contains(name) else { return }
            let parents = references[name.lowercased()]?.compactMap { $0["parent"] as String? } ?? []
            for parent in names where parent != name && parents.contains(parent.lowercased()) { add(parent) }
            ordered.append(name)
        }
        for name in names { add(name) }
        return try ordered.map { try TransferTable($0, in: database) }
    }

    private init(_ name: String, in database: any SQLConnection) throws {
        let columns = try database.prepare("SELECT * FROM \(name) LIMIT 0", isKept: false).columnNames
        guard !columns.isEmpty else { throw DamagedRow(table: name) }
        self.name = name
        self.columns = columns.filter {
            name != Self.attributes || !AttributeColumns.ofOneTypeEach.names.contains($0)
        }
        // The order of row ids, if there are any, is that in which rows were inserted.
        self.key = columns.contains("rowid") ? ["rowid"] : try database.primaryKeyColumns(of: name)
        let assigned = "attrelid = to_regclass(?) AND attidentity != ''"
        self.identity = try database.value(sql: "SELECT attname FROM pg_catalog.pg_attribute WHERE \(assigned)", [name])
    }

    /// Returns the columns of the table in an engine.
    func columns(_ engine: AttributeColumns) -> [String] {
        self.columns + (self.name == Self.attributes ? engine.names : [])
    }

    // Reading.

    /// Returns the first rows after a key, in the order of ``key``.
    /// - Throws: ``StoreTransferError`` for a value that the other engine cannot store.
    func rows(after key: [SQLValue]?, limit: Int, in database: any SQLConnection) throws -> [TransferRow] {
        let columns = self.columns(database.attributes)
        let order = self.key.joined(separator: ", ")
        var sql = "SELECT \(columns.joined(separator: ", ")) FROM \(self.name)"
        if let key { sql += " WHERE (\(order)) > (\(key.map { _ in "?" }.joined(separator: ", ")))" }
        if !order.isEmpty { sql += " ORDER BY \(order)" }
        let statement = try database.prepare("\(sql) LIMIT ?")
        defer { statement.reset() }
        try statement.bind(SQLArguments((key ?? []) + [.integer(Int64(limit))]))
        var rows: [TransferRow] = []
        while try statement.step() { rows.append(try self.row(statement, columns, database.attributes)) }
        return rows
    }

    private func row(
        _ statement: any SQLStatement,
        _ columns: [String],
        _ engine: AttributeColumns
    ) throws -> TransferRow {
        var (row, fault): (TransferRow, String?) = ([], nil)
        row.reserveCapacity(columns.count)
        for (index, column) in columns.enumerated() {
            let value = statement.value(Int32(index))
            row.append(value)
            guard case .text(let text) = value else { continue }
            // A damaged text would be repaired in silence.
            let isSound = !text.utf8.contains(0) && text.utf8.elementsEqual(statement.bytes(Int32(index)))
            if !isSound { fault = "the text of \(column) is not UTF-8 or has a NUL" }
        }
        if self.name == Self.attributes {
            let attribute = engine.value(of: Array(row[self.columns.count...]))
            row.replaceSubrange(self.columns.count..., with: AttributeColumns.ofOneTypeEach.row(attribute ?? .null))
            if attribute == nil { fault = "its value has a type that no attribute has" }
        }
        guard let fault else { return row }
        // A key of bytes may be a token.
        let place = zip(self.key, self.key(of: row)).map { name, value in
            switch value {
            case .integer(let number): "\(name) \(number)"
            case .text(let text): "\(name) '\(text)'"
            case .null, .real, .bytes: name
            }
        }
        throw StoreTransferError("a row cannot be copied: \(self.name) (\(place.joined(separator: ", "))): \(fault)")
    }

    func key(of row: TransferRow) -> [SQLValue] {
        self.key.compactMap { name in self.columns.firstIndex(of: name).map { row[$0] } }
    }

    /// Returns the values of ``columns(_:)`` in an engine.
    func values(of row: TransferRow, _ engine: AttributeColumns) -> [SQLValue] {
        guard self.name == Self.attributes else { return row }
        let attribute = AttributeColumns.ofOneTypeEach.value(of: Array(row[self.columns.count...]))
        return row[..<self.columns.count] + engine.row(attribute ?? .null)
    }
}

/// The reading of a table in batches, each after the last key of the one before.
struct TransferReader {
    /// The maximum number of bytes in a batch, if its rows are not larger than those before.
    private static let maximumBytes = 16 << 20

    let table: TransferTable
    /// The maximum number of rows in a batch.
    let maximumRows: Int
    /// The key of the last row, or `nil` if none was read.
    private(set) var position: [SQLValue]?
    private(set) var isAtEnd: Bool
    private var largestRow = 1

    /// - Parameter position: The key after which to begin, or `nil` to begin with the first row.
    init(_ table: TransferTable, after position: [SQLValue]? = nil, maximumRows: Int) {
        (self.table, self.position, self.maximumRows) = (table, position, maximumRows)
        self.isAtEnd = position != nil && table.key.isEmpty
    }

    mutating func next(in database: any TransferDatabase) throws -> [TransferRow] {
        let limit =
            self.table.key.isEmpty ? Int.max : max(1, min(self.maximumRows, Self.maximumBytes / self.largestRow))
        let rows = try database.read { try self.table.rows(after: self.position, limit: limit, in: $0) }
        self.largestRow = rows.reduce(self.largestRow) { max($0, $1.reduce(0) { $0 + $1.size }) }
        self.position = rows.last.map(self.table.key) ?? self.position
        self.isAtEnd = rows.count < limit
        return rows
    }
}

/// The number of rows in a table, and a checksum that does not depend on their order.
package struct TableSum: Hashable, Sendable {
    package private(set) var rows = 0
    /// The sum of 64 bits of the SHA-256 hash of each row.
    package private(set) var checksum: UInt64 = 0

    mutating func add(_ row: TransferRow) {
        var bytes: [UInt8] = []
        row.append(to: &bytes)
        self.rows += 1
        self.checksum &+= SHA256.hash(data: bytes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension AttributeColumns {
    /// Returns the value that the columns of an attribute store, or `nil` if they are damaged.
    ///
    /// A whole number becomes an integer, whichever type it has in SQLite, where both types are equal.
    fileprivate func value(of columns: [SQLValue]) -> JSONValue? {
        let values = columns.filter { $0 != .null }
        guard let value = values.first, values.count == 1 else { return nil }
        switch (self, value) {
        case (_, .text(let text)): return .string(text)
        case (_, .real(let number)): return Int64(exactly: number).map(JSONValue.integer) ?? .number(number)
        case (.ofAnyType, .integer(let number)): return .integer(number)
        case (.ofAnyType, .bytes(Data([0]))), (.ofOneTypeEach, .integer(0)): return .bool(false)
        case (.ofAnyType, .bytes(Data([1]))), (.ofOneTypeEach, .integer(1)): return .bool(true)
        case (_, .integer), (_, .bytes), (_, .null): return nil
        }
    }

    /// Returns the values of the columns for the value of an attribute.
    fileprivate func row(_ value: JSONValue) -> [SQLValue] {
        let stored = self.stored(value)
        return self.names.map { stored?.column == $0 ? stored?.value ?? .null : .null }
    }
}

extension TransferRow {
    /// Appends the row in the binary format of PostgreSQL's `COPY`, which differs for rows that differ.
    func append(to bytes: inout [UInt8]) {
        bytes.append(bigEndian: Int16(clamping: self.count))
        for value in self {
            switch value {
            case .null: bytes.append(bigEndian: Int32(-1))
            case .integer(let number):
                bytes.append(bigEndian: Int32(8))
                bytes.append(bigEndian: number)
            case .real(let number):
                bytes.append(bigEndian: Int32(8))
                bytes.append(bigEndian: number.bitPattern)
            case .text(let text):
                bytes.append(bigEndian: Int32(clamping: text.utf8.count))
                bytes += text.utf8
            case .bytes(let content):
                bytes.append(bigEndian: Int32(clamping: content.count))
                bytes += content
            }
        }
    }
}

extension [UInt8] {
    mutating func append<Number: FixedWidthInteger>(bigEndian number: Number) {
        Swift.withUnsafeBytes(of: number.bigEndian) { self += $0 }
    }
}

extension SQLValue {
    /// The approximate number of bytes in memory.
    fileprivate var size: Int {
        switch self {
        case .null, .integer, .real: 16
        case .text(let text): 16 + text.utf8.count
        case .bytes(let bytes): 16 + bytes.count
        }
    }
}
#endif
