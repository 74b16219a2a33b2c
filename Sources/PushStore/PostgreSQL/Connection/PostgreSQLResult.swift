#if PostgreSQL
import CLibPQ
import Foundation
import PushSupport

/// The result of a statement, with all its rows, in the binary format.
final class PostgreSQLResult {
    let pointer: OpaquePointer
    let rowCount: Int32
    private let columnCount: Int32

    init(_ pointer: OpaquePointer) {
        (self.pointer, self.rowCount, self.columnCount) = (pointer, PQntuples(pointer), PQnfields(pointer))
    }

    deinit { PQclear(self.pointer) }

    var status: ExecStatusType { PQresultStatus(self.pointer) }

    /// The command that was run, such as `INSERT 0 1`.
    var command: String { PQcmdStatus(self.pointer).map { String(cString: $0) } ?? "" }

    /// The number of rows that the command changed. A `SELECT` changes none.
    var changeCount: Int {
        guard let count = PQcmdTuples(self.pointer), !self.command.hasPrefix("SELECT") else { return 0 }
        return Int(String(cString: count)) ?? 0
    }

    /// The names of the columns, as PostgreSQL folds them.
    var columnNames: [String] {
        (0..<self.columnCount).map { column in PQfname(self.pointer, column).map { String(cString: $0) } ?? "" }
    }

    /// The types of the parameters, in the description of a prepared statement.
    var parameterTypes: [Oid] { (0..<PQnparams(self.pointer)).map { PQparamtype(self.pointer, $0) } }

    /// Returns the value of a field, without a copy; `nil` for NULL and for a field that does not exist.
    func field(_ row: Int32, _ column: Int32) -> PostgreSQLField? {
        guard (0..<self.rowCount).contains(row), (0..<self.columnCount).contains(column),
            PQgetisnull(self.pointer, row, column) == 0, let start = PQgetvalue(self.pointer, row, column)
        else { return nil }
        let count = Int(PQgetlength(self.pointer, row, column))
        return PostgreSQLField(
            type: PQftype(self.pointer, column),
            bytes: UnsafeRawBufferPointer(start: start, count: count)
        )
    }
}

/// The types of PostgreSQL that the store reads or writes, by their numbers in the catalogue (`pg_type.dat`).
enum PostgreSQLType {
    static let bool: Oid = 16
    static let bytea: Oid = 17
    static let char: Oid = 18
    static let name: Oid = 19
    static let int8: Oid = 20
    static let int2: Oid = 21
    static let int4: Oid = 23
    static let text: Oid = 25
    static let oid: Oid = 26
    static let json: Oid = 114
    static let float4: Oid = 700
    static let float8: Oid = 701
    static let unknown: Oid = 705
    static let int8Array: Oid = 1016
    static let bpchar: Oid = 1042
    static let varchar: Oid = 1043
    static let numeric: Oid = 1700

    /// Returns whether the binary format of a type is its text.
    static func isText(_ type: Oid) -> Bool {
        [Self.text, Self.varchar, Self.bpchar, Self.name, Self.json, Self.unknown, Self.char].contains(type)
    }
}

/// A value that is not NULL, in the binary format. It is valid as long as its result.
struct PostgreSQLField {
    let type: Oid
    let bytes: UnsafeRawBufferPointer

    /// The value as the store knows it. A value of another type is its bytes.
    var value: SQLValue {
        switch self.type {
        case PostgreSQLType.int8, PostgreSQLType.int4, PostgreSQLType.int2, PostgreSQLType.bool, PostgreSQLType.oid:
            self.wholeNumber.map(SQLValue.integer) ?? .null
        case PostgreSQLType.float8: self.load(UInt64.self).map { .real(Double(bitPattern: $0)) } ?? .null
        case PostgreSQLType.float4: self.load(UInt32.self).map { .real(Double(Float(bitPattern: $0))) } ?? .null
        case PostgreSQLType.numeric: self.numeric
        case _ where PostgreSQLType.isText(self.type): .text(String(decoding: self.bytes, as: UTF8.self))
        default: .bytes(Data(self.bytes))
        }
    }

    /// The integer, as SQLite converts values: fractions are cut, and what is no number is 0.
    var integer: Int64 {
        if let number = self.wholeNumber { return number }
        switch self.value {
        case .integer(let number): return number
        case .real(let number): return Int64(exactly: number.rounded(.towardZero)) ?? (number > 0 ? .max : .min)
        case .text(let text): return Int64(text) ?? 0
        case .bytes, .null: return 0
        }
    }

    var text: String? {
        switch self.value {
        case .text(let text): text
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        case .null: nil
        }
    }

    /// The bytes of a string or of a `bytea`. Those of a number are its digits.
    var content: [UInt8] {
        if self.type == PostgreSQLType.bytea || PostgreSQLType.isText(self.type) { return Array(self.bytes) }
        return Array((self.text ?? "").utf8)
    }

    private var wholeNumber: Int64? {
        switch self.type {
        case PostgreSQLType.int8: self.load(Int64.self)
        case PostgreSQLType.int4: self.load(Int32.self).map(Int64.init)
        case PostgreSQLType.int2: self.load(Int16.self).map(Int64.init)
        case PostgreSQLType.bool: self.load(UInt8.self).map { $0 == 0 ? 0 : 1 }
        case PostgreSQLType.oid: self.load(UInt32.self).map(Int64.init)
        default: nil
        }
    }

    private func load<Number: FixedWidthInteger>(_: Number.Type, at offset: Int = 0) -> Number? {
        guard offset >= 0, offset + MemoryLayout<Number>.size <= self.bytes.count else { return nil }
        return Number(bigEndian: self.bytes.loadUnaligned(fromByteOffset: offset, as: Number.self))
    }

    /// The value of a `numeric`: an integer if it is exactly one that fits, or else a fraction.
    ///
    /// The format is that of `numeric_send`: the number of digits, each of which is one of base 10,000; the weight of
    /// the first; the sign; the number of decimal places; and the digits.
    private var numeric: SQLValue {
        guard let count = self.load(Int16.self), let weight = self.load(Int16.self, at: 2),
            let sign = self.load(UInt16.self, at: 4)
        else { return .null }
        guard sign == 0 || sign == 0x4000 else {
            return .real(sign == 0xD000 ? .infinity : sign == 0xF000 ? -.infinity : .nan)
        }
        var (whole, fraction): (Int64?, Double) = (0, 0)
        for index in 0..<max(0, max(Int(count), Int(weight) + 1)) {
            let digit = index < Int(count) ? Int64(self.load(Int16.self, at: 8 + 2 * index) ?? 0) : 0
            fraction += Double(digit) * Foundation.pow(10_000, Double(Int(weight) - index))
            if index <= Int(weight) {
                whole = whole.flatMap { number in
                    let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10_000)
                    let (sum, isSumTooLarge) = product.subtractingReportingOverflow(digit)
                    return isTooLarge || isSumTooLarge ? nil : sum
                }
            } else if digit != 0 {
                whole = nil
            }
        }
        // The number is summed up as a negative one, because there is one more of these.
        if let whole, sign != 0 || whole != .min { return .integer(sign == 0 ? -whole : whole) }
        return .real(sign == 0 ? fraction : -fraction)
    }
}
#endif
