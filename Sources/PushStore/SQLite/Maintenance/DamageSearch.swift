import GRDB

/// The search for rows that cannot be read. The store leaves them out or pauses them where they would block others, so
/// that only an examination names them.
struct DamageSearch {
    let database: Database
    /// The key that must open every secret; `nil` leaves that out.
    let masterKey: MasterKey?

    /// Returns the faults in words, ``Integrity/longestList`` of each table at most.
    func faults() throws -> [String] { try StoredTable.all.flatMap(self.faults(in:)) }

    private func faults(in table: StoredTable) throws -> [String] {
        guard let examination = table.examination else { return [] }
        let sql = "SELECT * FROM \(table.name) WHERE \(examination.condition)"
        let rows = try Row.fetchCursor(self.database, sql: sql)
        var faults: [String] = []
        while faults.count < Integrity.longestList, let row = try rows.next() {
            if let read = examination.read, try row.readable({ try read($0, self.masterKey) }) != nil { continue }
            let name = examination.name.map { "\($0.key) \(Self.text(row[$0.value]))" }.joined(separator: ", ")
            faults.append("\(name): what is stored of it cannot be read")
        }
        return faults
    }

    private static func text(_ value: DatabaseValue) -> String {
        String.fromDatabaseValue(value) ?? Int64.fromDatabaseValue(value).map { "\($0)" } ?? ""
    }
}
