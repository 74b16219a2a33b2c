import Foundation
import ProviderModel
import PushSupport

/// The columns of a CSV file of devices, read from its header row.
///
/// Columns have the names of the members of a registration. An empty cell leaves the value unchanged.
///
/// An attribute has a column `attributes.NAME`, or all attributes are a JSON object in one column `attributes`. In
/// `attributes.NAME`, `true`, `false` and JSON numbers are values of these types, and anything else is a string.
///
/// Tags and capabilities are separated by `|`. Within a tag, `\|` is a bar and `\\` a backslash. The preferences and
/// the encryption key are JSON objects.
struct CSVColumns: Equatable {
    private enum Column: Equatable {
        case text(String)
        case list(String)
        case attribute(String)
        case attributes
        case object(String)
    }

    static let lists: Set<String> = ["tags", "capabilities"]
    private static let objects: Set<String> = ["preferences", "encryptionKey"]

    private let columns: [Column]

    /// Reads the header row.
    /// - Throws: ``RequestError`` for an unknown or repeated column, named by its number, and if `token` is missing. It
    ///   shows only the beginning of a column's name, because a file without a header has tokens there.
    init(header: [String]) throws(RequestError) {
        var columns: [Column] = []
        for (index, cell) in header.enumerated() {
            let name = cell.trimmingCharacters(in: .whitespaces)
            guard let column = Self.column(name) else {
                let known = DeviceRequest.object.known.sorted().joined(separator: ", ")
                throw Self.error(
                    index,
                    "unknown_column",
                    "\"\(name.prefix(16))\" is not a column: the first row names them, known are \(known), attributes.NAME"
                )
            }
            guard !columns.contains(column)
            else { throw Self.error(index, "duplicate_column", "\"\(name.prefix(16))\" occurs twice") }
            columns.append(column)
        }
        guard columns.contains(.text("token")) else {
            let message = "the first row names the columns, and one of them must be token"
            throw RequestError(.invalid, code: "missing_column", message: message, path: "token")
        }
        self.columns = columns
    }

    private static func column(_ name: String) -> Column? {
        if name == "attributes" { return .attributes }
        if Self.lists.contains(name) { return .list(name) }
        if Self.objects.contains(name) { return .object(name) }
        if DeviceRequest.object.known.contains(name) { return .text(name) }
        let prefix = "attributes."
        guard name.hasPrefix(prefix), name.utf8.count > prefix.utf8.count else { return nil }
        return .attribute(String(name.dropFirst(prefix.count)))
    }

    private static func error(_ index: Int, _ code: String, _ message: String) -> RequestError {
        RequestError(.invalid, code: code, message: message, path: "column \(index + 1)")
    }

    /// Returns the members of a registration from the non-empty cells of a row.
    /// - Throws: ``RequestError`` for a row whose number of cells is not that of the columns, or for an invalid cell.
    func members(_ cells: [String]) throws(RequestError) -> [String: JSONValue] {
        guard cells.count == self.columns.count else {
            let message = "the header has \(self.columns.count) columns, this row has \(cells.count)"
            throw RequestError(.invalid, code: "wrong_columns", message: message)
        }
        var members: [String: JSONValue] = [:]
        var attributes: [String: JSONValue] = [:]
        for (column, cell) in zip(self.columns, cells) where !cell.isEmpty {
            switch column {
            case .text(let name): members[name] = .string(cell)
            case .list(let name): members[name] = .array(CSVCell.list(cell).map { .string($0) })
            case .attribute(let name): attributes[name] = CSVCell.value(cell)
            case .attributes: attributes.merge(try CSVCell.object(cell, in: "attributes")) { named, _ in named }
            case .object(let name): members[name] = .object(try CSVCell.object(cell, in: name))
            }
        }
        if !attributes.isEmpty { members["attributes"] = .object(attributes) }
        return members
    }
}

/// The columns of another server's CSV file, by the names in its header row. Every name is allowed.
struct ForeignColumns: Equatable {
    private let names: [String]

    /// Reads the header row. A name that occurs twice is an error that shows the column's number.
    init(header: [String]) throws(RequestError) {
        let names = header.map { $0.trimmingCharacters(in: .whitespaces) }
        var known: Set<String> = []
        for (index, name) in names.enumerated() where !name.isEmpty && !known.insert(name).inserted {
            let message = "\"\(name.prefix(16))\" occurs twice"
            throw RequestError(.invalid, code: "duplicate_column", message: message, path: "column \(index + 1)")
        }
        self.names = names
    }

    func members(_ cells: [String]) throws(RequestError) -> [String: JSONValue] {
        guard cells.count == self.names.count else {
            let message = "the header has \(self.names.count) columns, this row has \(cells.count)"
            throw RequestError(.invalid, code: "wrong_columns", message: message)
        }
        let pairs = zip(self.names, cells).filter { !$0.isEmpty && !$1.isEmpty }
        return Dictionary(pairs.map { ($0, JSONValue.string($1)) }) { first, _ in first }
    }
}
