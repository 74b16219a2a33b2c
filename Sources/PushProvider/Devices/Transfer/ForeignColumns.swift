import Foundation
import PushSupport

/// The columns of another server's CSV file, by the names in its header row. All are allowed.
struct ForeignColumns: Equatable {
    private let names: [String]

    /// - Throws: ``RequestError`` that names a column by its number.
    init(header: [String]) throws(RequestError) {
        let names = header.map { $0.trimmingCharacters(in: .whitespaces) }
        var known: Set<String> = []
        for (index, name) in names.enumerated() where !name.isEmpty && !known.insert(name).inserted {
            let message = "\"\(name.prefix(16))\" occurs twice"
            throw RequestError(.invalid, code: "duplicate_column", message: message, path: "column \(index + 1)")
        }
        self.names = names
    }

    /// Returns the cells of a row that are not empty, by the names of their columns.
    func members(_ cells: [String]) throws(RequestError) -> [String: JSONValue] {
        guard cells.count == self.names.count else {
            let message = "the header has \(self.names.count) columns, this row has \(cells.count)"
            throw RequestError(.invalid, code: "wrong_columns", message: message)
        }
        let pairs = zip(self.names, cells).filter { !$0.isEmpty && !$1.isEmpty }
        return Dictionary(pairs.map { ($0, JSONValue.string($1)) }) { first, _ in first }
    }
}
