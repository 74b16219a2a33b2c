import Foundation
import PushProtocol
import PushStore

/// What the columns of a CSV file are. An empty cell says nothing: what is known of the device stays.
struct CSVColumns {
    private let names: [String]

    /// - Parameter header: the first record.
    init(_ header: CSVReader.Record) throws(ImportRefusal) {
        let (line, cells) = try Self.cells(header)
        var names: [String] = []
        for cell in cells {
            let name = try Self.text(cell, line: line, field: nil).trimmingCharacters(in: .whitespaces)
            guard Self.isKnown(name) else {
                let known = (TransferColumn.all + ["\(TransferColumn.attributePrefix)NAME"]).joined(separator: ", ")
                throw ImportRefusal(
                    line: line,
                    code: "unknown_field",
                    message: "the first line names the columns, of \(known)",
                    field: name
                )
            }
            guard !names.contains(name) else {
                throw ImportRefusal(line: line, code: "repeated_field", message: "name a column once", field: name)
            }
            names.append(name)
        }
        guard names.contains("token") else {
            throw ImportRefusal(
                line: line,
                code: "missing_field",
                message: "the first line names the columns, and token is one of them",
                field: "token"
            )
        }
        self.names = names
    }

    func registration(_ record: CSVReader.Record) throws(ImportRefusal) -> DeviceRegistration {
        let (line, cells) = try Self.cells(record)
        guard cells.count == self.names.count else {
            throw ImportRefusal(
                line: line,
                code: "wrong_count",
                message: "there are \(self.names.count) columns and \(cells.count) cells"
            )
        }
        var members: [String: JSONValue] = [:]
        var attributes: [String: JSONValue] = [:]
        for (name, cell) in zip(self.names, cells) where !cell.isEmpty {
            let text = try Self.text(cell, line: line, field: name)
            if name.hasPrefix(TransferColumn.attributePrefix) {
                attributes[String(name.dropFirst(TransferColumn.attributePrefix.count))] = CSVCell.scalar(text)
            } else {
                members[name] = CSVCell.value(text, column: name)
            }
        }
        if !attributes.isEmpty {
            guard case .object(let named)? = members["attributes"] ?? .object([:]) else {
                throw ImportRefusal(
                    line: line,
                    code: "wrong_type",
                    message: "it must be an object",
                    field: "attributes"
                )
            }
            members["attributes"] = .object(named.merging(attributes) { $1 })
        }
        do throws(APIRefusal) {
            let fields = try JSONFields(members: members, path: nil, known: DeviceRequest.members)
            return try DeviceRequest.registration(fields)
        } catch {
            throw ImportRefusal(line: line, error)
        }
    }

    private static func isKnown(_ name: String) -> Bool {
        TransferColumn.all.contains(name)
            || name.hasPrefix(TransferColumn.attributePrefix) && name != TransferColumn.attributePrefix
    }

    private static func cells(_ record: CSVReader.Record) throws(ImportRefusal) -> (Int, [[UInt8]]) {
        switch record {
        case .cells(let number, let cells): return (number, cells)
        case .fault(let number, .tooLong): throw .tooLong(number)
        case .fault(let number, .tooManyCells):
            throw ImportRefusal(line: number, code: "too_many", message: "at most \(CSVReader.maximumCells) cells")
        case .fault(let number, .quotation):
            throw ImportRefusal(
                line: number,
                code: "invalid_csv",
                message: "a cell is in quotation marks as a whole, and a mark inside it is doubled (RFC 4180)"
            )
        }
    }

    private static func text(_ cell: [UInt8], line: Int, field: String?) throws(ImportRefusal) -> String {
        guard let text = String(validating: cell, as: UTF8.self) else {
            throw ImportRefusal(line: line, code: "invalid_utf8", message: "the file must be in UTF-8", field: field)
        }
        return text
    }
}

/// Cells as values and back.
enum CSVCell {
    /// What stands in the cell of a column that is no attribute's own.
    static func value(_ text: String, column: String) -> JSONValue {
        if TransferColumn.lists.contains(column) {
            if text.hasPrefix("["), let list = try? JSONValue(parsing: Data(text.utf8)) { return list }
            return .array(text.split(separator: TransferColumn.separator).map { .string(String($0)) })
        }
        // An object in JSON; anything else is refused as such.
        if column == "attributes" { return (try? JSONValue(parsing: Data(text.utf8))) ?? .string(text) }
        return .string(text)
    }

    /// A number, true or false; anything else is a text, which JSON's quotation marks make of these too.
    static func scalar(_ text: String) -> JSONValue {
        switch try? JSONValue(parsing: Data(text.utf8)) {
        case .bool(let flag)?: .bool(flag)
        case .integer(let number)?: .integer(number)
        case .number(let number)?: .number(number)
        case .string(let inner)?: .string(inner)
        default: .string(text)
        }
    }

    /// The entries of a list; as JSON where they cannot simply follow each other.
    static func text(_ list: [String]) throws -> String {
        let isPlain = list.allSatisfy { !$0.isEmpty && !$0.contains(TransferColumn.separator) }
        if isPlain, list.first?.hasPrefix("[") != true { return list.joined(separator: "\(TransferColumn.separator)") }
        return String(decoding: try JSONValue.array(list.map { .string($0) }).text, as: UTF8.self)
    }

    /// As RFC 4180 writes it.
    static func quoted(_ text: String) -> String {
        let needsMarks = text.utf8.contains { [0x22, 0x2c, 0x0a, 0x0d].contains($0) }
        return needsMarks ? "\"\(text.replacingOccurrences(of: "\"", with: "\"\""))\"" : text
    }
}
