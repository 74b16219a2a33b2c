import Foundation
import NIOCore
import ProviderModel
import PushSupport

/// Reads registrations from the bytes of a file, which may arrive in buffers of any size.
///
/// A rejected record does not stop the import. A rejected header row does.
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

    private enum Source {
        case lines(LineReader)
        case rows(CSVReader, Header?)
        case elements(ElementReader)
    }

    private enum Header {
        case own(CSVColumns)
        case foreign(ForeignColumns)
    }

    private var source: Source
    /// The server from which the list comes, or `nil` for records in Martlet's own form.
    private let list: ForeignDeviceList?
    private let defaults: ImportDefaults

    /// Creates a reader. `defaults` are the values that another server's list does not contain.
    init(_ source: ImportSource, _ defaults: ImportDefaults = ImportDefaults()) {
        (self.list, self.defaults) = (source.list, defaults)
        self.source =
            switch source.container {
            case .lines: .lines(LineReader())
            case .rows: .rows(CSVReader(), nil)
            case .elements: .elements(ElementReader())
            }
    }

    /// Reads the next bytes of the file, and returns the records that end in them.
    /// - Throws: ``RequestError`` for a header row that is rejected.
    mutating func feed(_ bytes: ByteBufferView) throws(RequestError) -> [Record] {
        switch self.source {
        case .lines(var reader):
            let lines = reader.feed(bytes)
            self.source = .lines(reader)
            return lines.compactMap(self.record)
        case .rows(var reader, let columns):
            let rows = reader.feed(bytes)
            self.source = .rows(reader, columns)
            return try self.records(rows)
        case .elements(var reader):
            let elements = reader.feed(bytes)
            self.source = .elements(reader)
            return elements.map(self.record)
        }
    }

    /// Returns the last record if it has no line end, or an empty array otherwise.
    /// - Throws: The errors of ``feed(_:)``.
    mutating func finish() throws(RequestError) -> [Record] {
        switch self.source {
        case .lines(var reader): return reader.finish().flatMap(self.record).map { [$0] } ?? []
        case .rows(var reader, _): return try self.records(reader.finish().map { [$0] } ?? [])
        case .elements(var reader): return reader.finish().map { [self.record($0)] } ?? []
        }
    }

    /// Reads the record of a line, or returns `nil` for an empty line.
    private func record(_ line: LineReader.Line) -> Record? {
        if let bytes = line.bytes, bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { return nil }
        return Record(line: line.number) { () throws(RequestError) in
            if let bytes = line.bytes { return try self.registration(bytes) }
            let message = "a line has at most \(TransferLimits.maximumRecord) bytes"
            throw RequestError(.invalid, code: "too_long", message: message)
        }
    }

    private func record(_ element: ElementReader.Element) -> Record {
        Record(line: element.line) { () throws(RequestError) in
            if let bytes = element.bytes { return try self.registration(bytes) }
            guard !element.isGarbage else {
                throw RequestError(.invalid, code: "invalid_json", message: "a record is a JSON object")
            }
            let message = "a record has at most \(TransferLimits.maximumRecord) bytes"
            throw RequestError(.invalid, code: "too_long", message: message)
        }
    }

    private func registration(_ bytes: [UInt8]) throws(RequestError) -> DeviceRegistration {
        guard let list else { return try DeviceRequest.parse(Data(bytes)) }
        guard case .object(let members) = try JSONValue(parsing: Data(bytes)) else {
            throw RequestError(.invalid, code: "invalid_json", message: "a record is a JSON object")
        }
        return try Self.registration(ForeignDevice(members, self.defaults).registration(list))
    }

    private static func registration(_ members: [String: JSONValue]) throws(RequestError) -> DeviceRegistration {
        try DeviceRequest.registration(JSONFields(members: members, path: nil, known: DeviceRequest.object.known))
    }

    private mutating func records(_ rows: [CSVReader.Row]) throws(RequestError) -> [Record] {
        var records: [Record] = []
        for row in rows {
            guard case .rows(let reader, let columns) = self.source else { break }
            if let columns {
                records.append(self.record(row, columns))
            } else if self.list == nil {
                self.source = .rows(reader, .own(try CSVColumns(header: Self.cells(row))))
            } else {
                self.source = .rows(reader, .foreign(try ForeignColumns(header: Self.cells(row))))
            }
        }
        return records
    }

    private func record(_ row: CSVReader.Row, _ header: Header) -> Record {
        Record(line: row.line) { () throws(RequestError) in
            let cells = try Self.cells(row)
            switch (header, self.list) {
            case (.foreign(let columns), let list?):
                let members = try columns.members(cells)
                return try Self.registration(ForeignDevice(members, self.defaults).registration(list))
            case (.own(let columns), _): return try Self.registration(columns.members(cells))
            case (.foreign, nil): throw RequestError(.invalid, code: "invalid_csv", message: "there is no list")
            }
        }
    }

    private static func cells(_ row: CSVReader.Row) throws(RequestError) -> [String] {
        switch row.content {
        case .cells(let cells): return cells
        case .fault(let fault): throw RequestError(.invalid, code: "invalid_csv", message: fault.rawValue)
        }
    }
}
