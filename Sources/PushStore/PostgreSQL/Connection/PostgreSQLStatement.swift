#if PostgreSQL
import CLibPQ
import Foundation

/// A prepared statement of a connection, with its bound values and the rows of its last execution.
///
/// The server prepares it when its columns are asked for, or when it runs: only then the types of its values are known.
final class PostgreSQLStatement: SQLStatement {
    private let connection: PostgreSQLConnection
    private let source: PostgreSQLSource
    private var values: [SQLValue]
    private var isBindingInvalid = false
    private var result: PostgreSQLResult?
    private var row: Int32 = -1

    init(_ source: PostgreSQLSource, of connection: PostgreSQLConnection) {
        (self.source, self.connection) = (source, connection)
        self.values = Array(repeating: .null, count: source.text.parameterCount)
    }

    /// The names of the columns; empty if the server cannot prepare the statement, which is an error when it runs.
    var columnNames: [String] {
        let folded = self.result?.columnNames ?? (try? self.connection.plan(self.source, for: self.values))?.columnNames
        return (folded ?? []).map(self.source.text.columnName)
    }

    var parameterCount: Int { self.values.count }

    func position(of name: String) -> Int32? { self.source.text.position(of: name) }

    func bind(_ value: Int64, at position: Int32) { self.set(.integer(value), at: position) }

    func bind(_ value: Double, at position: Int32) { self.set(.real(value), at: position) }

    func bind(_ text: String, at position: Int32) {
        let end = text.utf8.firstIndex(of: 0)
        self.set(.text(end.map { String(text[..<$0]) } ?? text), at: position)
    }

    func bind(_ bytes: [UInt8], at position: Int32) { self.set(.bytes(Data(bytes)), at: position) }

    func bind(_ bytes: Data, at position: Int32) { self.set(.bytes(bytes), at: position) }

    func bindNull(at position: Int32) { self.set(.null, at: position) }

    /// Binds a value, which ends the last execution.
    private func set(_ value: SQLValue, at position: Int32) {
        self.reset()
        guard self.values.indices.contains(Int(position) - 1) else { return self.isBindingInvalid = true }
        self.values[Int(position) - 1] = value
    }

    @discardableResult
    func run() throws -> Int {
        defer { self.reset() }
        return try self.execute().changeCount
    }

    func step() throws -> Bool {
        let result = try self.result ?? self.execute()
        self.result = result
        if self.row < result.rowCount { self.row += 1 }
        return self.row < result.rowCount
    }

    func reset() { (self.result, self.row) = (nil, -1) }

    private func execute() throws -> PostgreSQLResult {
        guard !self.isBindingInvalid else { throw SQLArgumentError() }
        do {
            return try self.connection.execute(self.source, self.values)
        } catch let error as PostgreSQLError where error.kind == .foreignKey {
            throw ForeignKeyViolation()
        }
    }

    // The columns of the current row.

    private func field(_ column: Int32) -> PostgreSQLField? { self.result?.field(self.row, column) }

    func isNull(_ column: Int32) -> Bool { self.field(column) == nil }

    func integer(_ column: Int32) -> Int64 { self.field(column)?.integer ?? 0 }

    func text(_ column: Int32) -> String? { self.field(column)?.text }

    func bytes(_ column: Int32) -> [UInt8] { self.field(column)?.content ?? [] }

    func value(_ column: Int32) -> SQLValue { self.field(column)?.value ?? .null }
}

/// A text of a statement on one connection, with the plans that the server has prepared for it.
final class PostgreSQLSource {
    let text: PostgreSQLText
    /// A Boolean value that indicates whether the server keeps its plans under names.
    var isKept: Bool
    var plans: [PostgreSQLPlan] = []
    /// The number of the last use, by which the connection finds the sources that have not been used for long.
    var lastUse = 0

    init(_ text: PostgreSQLText, isKept: Bool) { (self.text, self.isKept) = (text, isKept) }
}

/// The description of a prepared statement by the server.
struct PostgreSQLPlan {
    /// The name of the prepared statement; empty for one without a name, which the next one replaces.
    let name: String
    let parameterTypes: [Oid]
    let columnNames: [String]
}

/// The values of a statement's parameters, in the formats of the protocol.
struct PostgreSQLParameters {
    private var buffer: [UInt8] = []
    /// The starts of the values in the buffer; `nil` for NULL.
    private var starts: [Int?] = []
    private var lengths: [Int32] = []
    /// 1 for the binary format, and 0 for text.
    private var formats: [Int32] = []

    /// Encodes the values for parameters of these types; `nil` if one of them does not fit its type.
    init?(_ values: [SQLValue], _ types: [Oid]) {
        guard values.count == types.count else { return nil }
        for (value, type) in zip(values, types) { guard self.append(value, type) else { return nil } }
    }

    /// Returns the type to declare for a value. The server infers those of strings and bytes from their places.
    static func declaredType(_ value: SQLValue) -> Oid {
        switch value {
        case .integer: PostgreSQLType.int8
        case .real: PostgreSQLType.float8
        case .null, .text, .bytes: 0
        }
    }

    private mutating func append(_ value: SQLValue, _ type: Oid) -> Bool {
        switch (value, type) {
        case (.null, _):
            self.starts.append(nil)
            self.lengths.append(0)
            self.formats.append(1)
        case (.integer(let number), PostgreSQLType.int8): self.append(number)
        case (.integer(let number), PostgreSQLType.int4):
            guard let number = Int32(exactly: number) else { return false }
            self.append(number)
        case (.integer(let number), PostgreSQLType.int2):
            guard let number = Int16(exactly: number) else { return false }
            self.append(number)
        case (.integer(let number), PostgreSQLType.float8): self.append(Double(number).bitPattern)
        case (.integer(let number), PostgreSQLType.bool): self.append(UInt8(number == 0 ? 0 : 1))
        case (.integer(let number), PostgreSQLType.numeric): self.append(text: String(number), type)
        case (.real(let number), PostgreSQLType.float8): self.append(number.bitPattern)
        case (.real(let number), PostgreSQLType.numeric): self.append(text: String(number), type)
        case (.text(let text), _): self.append(text: text, type)
        // The server checks that they are a string.
        case (.bytes(let bytes), _)
        where type == PostgreSQLType.bytea || type == PostgreSQLType.int8Array || PostgreSQLType.isText(type):
            self.append(bytes, format: 1)
        default: return false
        }
        return true
    }

    private mutating func append<Number: FixedWidthInteger>(_ number: Number) {
        Swift.withUnsafeBytes(of: number.bigEndian) { self.append($0, format: 1) }
    }

    /// Appends a string. The server parses it if its type is neither that of strings nor of bytes.
    private mutating func append(text: String, _ type: Oid) {
        let isBinary = type == PostgreSQLType.bytea || PostgreSQLType.isText(type)
        self.append(text.utf8, format: isBinary ? 1 : 0)
    }

    private mutating func append(_ bytes: some Collection<UInt8>, format: Int32) {
        self.starts.append(self.buffer.count)
        self.lengths.append(Int32(clamping: bytes.count))
        self.formats.append(format)
        self.buffer += bytes
        // A value as text ends at a NUL.
        self.buffer.append(0)
    }

    /// Calls `body` with the arguments of libpq's functions for parameters.
    func withArguments<Value>(
        _ body: (Int32, [UnsafePointer<CChar>?], _ lengths: [Int32], _ formats: [Int32]) throws -> Value
    ) rethrows -> Value {
        try self.buffer.withUnsafeBytes { buffer in
            let start = buffer.assumingMemoryBound(to: CChar.self).baseAddress
            let values = self.starts.map { offset in offset.flatMap { offset in start.map { $0 + offset } } }
            return try body(Int32(values.count), values, self.lengths, self.formats)
        }
    }
}
#endif
