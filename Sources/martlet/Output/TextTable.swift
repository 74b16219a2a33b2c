import Foundation
import PushSupport

/// The columns of a human-readable table, which is formatted in the same way for a terminal and a pipe.
struct TextTable: ExpressibleByArrayLiteral, Sendable {
    /// A column, which shows one member of the JSON objects.
    struct Column: ExpressibleByStringLiteral, Sendable {
        /// The heading, which is shown in capitals.
        let title: String
        /// The name of the member. Dots separate the names in a path to a nested member.
        let member: String
        /// A Boolean value that indicates whether the member is a time in milliseconds since 1970, which is shown in
        /// ISO 8601.
        var isTime = false

        init(_ title: String, _ member: String) { (self.title, self.member) = (title, member) }

        init(stringLiteral name: String) { self.init(name, name) }

        static func time(_ title: String, _ member: String) -> Column {
            changed(Column(title, member)) { $0.isTime = true }
        }

        func text(in object: JSONValue) -> String {
            let value = self.member.split(separator: ".").reduce(object) { $0[String($1)] }
            return (self.isTime ? value.timeText : value.plainText).printable
        }
    }

    let columns: [Column]

    init(arrayLiteral columns: Column...) { self.columns = columns }
    init(_ columns: [Column]) { self.columns = columns }

    static func + (table: TextTable, more: TextTable) -> TextTable { TextTable(table.columns + more.columns) }

    /// Formats objects as a table with one row each, two spaces between columns and no spaces at the end of a line.
    func text(of objects: [JSONValue]) -> String {
        let rows =
            [self.columns.map { $0.title.uppercased() }]
            + objects.map { object in
                self.columns.map { $0.text(in: object) }
            }
        let widths = self.columns.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        let lines = rows.map { row in
            let cells = zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }
            return String(cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
        }
        return lines.joined(separator: "\n")
    }

    /// Formats one object as lines, each with a name and a value. Members without a value are left out.
    func details(of object: JSONValue) -> String {
        let width = self.columns.map(\.title.count).max() ?? 0
        return self.columns.compactMap { column in
            let value = column.text(in: object)
            guard !value.isEmpty else { return nil }
            return "\(column.title.padding(toLength: width, withPad: " ", startingAt: 0))  \(value)"
        }.joined(separator: "\n")
    }
}

/// Texts for JSON values in tables and messages.
extension JSONValue {
    /// Returns the object with the values of some members replaced. Any other value is returned unchanged.
    func replacing(_ values: [String: JSONValue]) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.merging(values) { $1 })
    }

    /// The value as text. Commas separate the elements of arrays; `true` is `yes`, and `false` and `null` are empty.
    var plainText: String {
        switch self {
        case .null, .bool(false): ""
        case .bool(true): "yes"
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .string(let text): text
        case .array(let values): values.map(\.plainText).joined(separator: ", ")
        case .object(let members):
            members.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.plainText)" }.joined(separator: ", ")
        }
    }

    /// The ISO 8601 time, in UTC, of an integer in milliseconds since 1970, or the plain text of any other value.
    var timeText: String {
        guard let milliseconds = self.integerValue else { return self.plainText }
        // Half a millisecond is added, because the formatter truncates the fraction.
        return Date(timeIntervalSince1970: (Double(milliseconds) + 0.5) / 1000).iso8601Text
    }
}

extension Date {
    /// The date in ISO 8601 with milliseconds, in UTC.
    var iso8601Text: String { self.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }
}

extension String {
    /// The string with control characters replaced, so that untrusted text cannot control the terminal.
    var printable: String {
        String(
            String.UnicodeScalarView(self.unicodeScalars.map { $0.properties.generalCategory == .control ? "�" : $0 })
        )
    }
}
