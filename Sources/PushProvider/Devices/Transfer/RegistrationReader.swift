import Foundation
import NIOCore
import PushStore
import PushSupport

/// Reads registrations from the bytes of a file, in buffers of any size.
///
/// A record that is rejected does not stop the others. A header row that is rejected does.
struct RegistrationReader {
    /// One record of a file: a registration, or the error for which it is rejected.
    struct Record: Equatable {
        /// The line on which the record begins, from 1.
        var line: Int
        var content: Result<DeviceRegistration, RequestError>

        init(line: Int, _ read: () throws(RequestError) -> DeviceRegistration) {
            (self.line, self.content) = (line, Result(catching: read))
        }
    }

    /// The reader of the format.
    private enum Source {
        case lines(LineReader)
        case rows(CSVReader, CSVColumns?)
    }

    private var source: Source

    init(_ format: TransferFormat) {
        self.source =
            switch format {
            case .ndjson: .lines(LineReader())
            case .csv: .rows(CSVReader(), nil)
            }
    }

    /// Returns the records that end in `bytes`.
    /// - Throws: ``RequestError`` of the header row.
    mutating func feed(_ bytes: ByteBufferView) throws(RequestError) -> [Record] {
        switch self.source {
        case .lines(var reader):
            let lines = reader.feed(bytes)
            self.source = .lines(reader)
            return lines.compactMap(Self.record)
        case .rows(var reader, let columns):
            let rows = reader.feed(bytes)
            self.source = .rows(reader, columns)
            return try self.records(rows)
        }
    }

    /// Returns the last record, if it has no line end.
    /// - Throws: As ``feed(_:)``.
    mutating func finish() throws(RequestError) -> [Record] {
        switch self.source {
        case .lines(var reader): return reader.finish().flatMap(Self.record).map { [$0] } ?? []
        case .rows(var reader, _): return try self.records(reader.finish().map { [$0] } ?? [])
        }
    }

    /// Reads the record of a line; `nil` for an empty line.
    private static func record(_ line: LineReader.Line) -> Record? {
        if let bytes = line.bytes, bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { return nil }
        return Record(line: line.number) { () throws(RequestError) in
            if let bytes = line.bytes { return try DeviceRequest.parse(Data(bytes)) }
            let message = "a line has at most \(TransferLimits.maximumRecord) bytes"
            throw RequestError(.invalid, code: "too_long", message: message)
        }
    }

    private mutating func records(_ rows: [CSVReader.Row]) throws(RequestError) -> [Record] {
        var records: [Record] = []
        for row in rows {
            guard case .rows(let reader, let columns) = self.source else { break }
            if let columns {
                records.append(Self.record(row, columns))
            } else {
                self.source = .rows(reader, try CSVColumns(header: Self.cells(row)))
            }
        }
        return records
    }

    private static func record(_ row: CSVReader.Row, _ columns: CSVColumns) -> Record {
        Record(line: row.line) { () throws(RequestError) in
            let members = try columns.members(Self.cells(row))
            let fields = try JSONFields(members: members, path: nil, known: DeviceRequest.members)
            return try DeviceRequest.registration(fields)
        }
    }

    private static func cells(_ row: CSVReader.Row) throws(RequestError) -> [String] {
        switch row.content {
        case .cells(let cells): return cells
        case .fault(let fault): throw RequestError(.invalid, code: "invalid_csv", message: fault.rawValue)
        }
    }
}
