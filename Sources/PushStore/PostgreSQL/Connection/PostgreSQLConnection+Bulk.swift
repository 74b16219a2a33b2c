#if PostgreSQL
extension PostgreSQLConnection {
    var hasOneWriter: Bool { false }

    func lock(_ strength: RowLock, _ table: String, where condition: String, _ arguments: SQLArguments) throws {
        let clause = strength == .shared ? "FOR SHARE" : "FOR NO KEY UPDATE"
        let statement = try self.prepare("SELECT 1 FROM \(table) WHERE \(condition) \(clause)")
        try statement.bind(arguments)
        defer { statement.reset() }
        _ = try statement.step()
    }

    func takeTurn(_ turn: LedgerTurn) throws {
        let sql = "SELECT pg_advisory_xact_lock(hashtext(current_schema()), CAST(? AS int))"
        _ = try self.hasRow(sql: sql, [turn.rawValue])
    }

    /// The number of rows from which on one statement for all of them is faster.
    private static let fewest = 4

    /// Inserts rows of integers by one statement, which takes an array for each column.
    func insert(_ rows: IntegerRows, by insertion: IntegerInsertion) throws -> [Bool] {
        let keyColumn = insertion.columns.firstIndex(of: insertion.key) ?? 0
        let keys = stride(from: keyColumn, to: rows.values.count, by: rows.width).map { rows.values[$0] }
        let columns = insertion.columns.joined(separator: ", ")
        let arrays = insertion.columns.indices.map { "CAST(?\($0 + 1) AS bigint[])" }.joined(separator: ", ")
        // A statement cannot update a row that it has inserted.
        guard rows.count >= Self.fewest, Set(keys).count == keys.count
        else { return try self.insertEach(rows, by: insertion) }
        let sql = """
            INSERT INTO \(insertion.table) (\(columns)) SELECT * FROM unnest(\(arrays)) \(insertion.clauses)
            RETURNING \(insertion.key)
            """
        let statement = try self.prepare(sql)
        for column in 0..<rows.width { statement.bind(Self.array(of: column, in: rows), at: Int32(column) + 1) }
        defer { statement.reset() }
        var written: Set<Int64> = []
        while try statement.step() { written.insert(statement.integer(0)) }
        return keys.map { $0.map(written.contains) ?? false }
    }

    /// Returns a column as an array of `bigint` in the binary format: the number of dimensions, whether there are
    /// NULLs, the type of the elements, their number and first index, and each element with its length.
    private static func array(of column: Int, in rows: IntegerRows) -> [UInt8] {
        let values = stride(from: column, to: rows.values.count, by: rows.width).map { rows.values[$0] }
        let head = [1, values.contains(nil) ? 1 : 0, Int32(PostgreSQLType.int8), Int32(values.count), 1]
        return [UInt8](unsafeUninitializedCapacity: 20 + 12 * values.count) { buffer, count in
            func append<Number: FixedWidthInteger>(_ number: Number) {
                UnsafeMutableRawBufferPointer(buffer)
                    .storeBytes(of: number.bigEndian, toByteOffset: count, as: Number.self)
                count += MemoryLayout<Number>.size
            }
            for number in head { append(number) }
            for value in values {
                append(value == nil ? Int32(-1) : 8)
                if let value { append(value) }
            }
        }
    }
}
#endif
