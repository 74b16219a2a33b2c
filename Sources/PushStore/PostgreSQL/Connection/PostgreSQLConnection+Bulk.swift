#if PostgreSQL
extension PostgreSQLConnection {
    var hasOneWriter: Bool { false }

    func lock(_ strength: RowLock, _ table: String, where condition: String, _ arguments: SQLArguments) throws {
        _ = try self.hasRow(sql: "SELECT 1 FROM \(table) WHERE \(condition) \(strength.clause)", arguments)
    }

    func lock(_ strength: RowLock, _ table: String, _ column: String, _ keys: some Sequence<Int64>) throws {
        let sorted = Set(keys).sorted()
        guard !sorted.isEmpty else { return }
        let sql = """
            SELECT 1 FROM \(table) WHERE \(column) = ANY(CAST(? AS bigint[])) ORDER BY \(column) \(strength.clause)
            """
        let statement = try self.prepare(sql)
        statement.bind(Self.array(of: sorted), at: 1)
        try statement.run()
    }

    func tryLock(_ table: String, where condition: String, _ arguments: SQLArguments) throws -> Bool {
        let sql = "SELECT 1 FROM \(table) WHERE \(condition) \(RowLock.exclusive.clause) SKIP LOCKED"
        return try self.hasRow(sql: sql, arguments)
    }

    /// The number of rows from which on one statement for all of them is faster.
    private static let fewest = 4

    /// Inserts rows of integers by one statement, which takes an array for each column.
    func insert(_ rows: IntegerRows, by insertion: IntegerInsertion) throws -> [Bool] {
        let keyColumn = insertion.columns.firstIndex(of: insertion.key) ?? 0
        let keys = rows.column(keyColumn)
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
        for column in 0..<rows.width { statement.bind(Self.array(of: rows.column(column)), at: Int32(column) + 1) }
        defer { statement.reset() }
        var written: Set<Int64> = []
        while try statement.step() { written.insert(statement.integer(0)) }
        return keys.map { $0.map(written.contains) ?? false }
    }

    /// Returns an array of `bigint` in the binary format: the number of dimensions, whether there are
    /// NULLs, the type of the elements, their number and first index, and each element with its length.
    private static func array(of values: [Int64?]) -> [UInt8] {
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

extension RowLock {
    fileprivate var clause: String {
        switch self {
        case .shared: "FOR SHARE"
        case .exclusive: "FOR NO KEY UPDATE"
        }
    }
}
#endif
