import Foundation
import PushSupport

/// Rows of text in aligned columns, for people; the same on a terminal and in a pipe.
struct TextTable {
    /// A column with the member of the JSON objects that it shows.
    struct Column {
        /// The presentation of a value.
        enum Style {
            /// Texts and numbers as they are, lists with commas, booleans as yes or nothing.
            case plain
            /// Milliseconds since 1970.
            case time
        }

        /// The heading, which is shown in capitals.
        var title: String
        /// The name of the member, with dots for one of an inner object.
        var member: String
        var style: Style

        init(_ title: String, _ member: String, _ style: Style = .plain) {
            self.title = title
            self.member = member
            self.style = style
        }

        /// Returns the member of an object.
        func value(in object: JSONValue) -> JSONValue {
            self.member.split(separator: ".").reduce(object) { $0[String($1)] }
        }
    }

    /// The cells, the headings first.
    private var rows: [[String]]

    init(_ columns: [Column], _ objects: [JSONValue]) {
        self.rows = [columns.map { $0.title.uppercased() }]
        for object in objects {
            self.rows.append(columns.map { CellText.of($0.value(in: object), $0.style).printable })
        }
    }

    /// The table, with two spaces between columns and none at the end of a line.
    var text: String {
        let widths = (self.rows.first ?? []).indices.map { column in self.rows.map { $0[column].count }.max() ?? 0 }
        let lines = self.rows.map { row in
            let cells = zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }
            return String(cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
        }
        return lines.joined(separator: "\n")
    }

    /// Returns one object as lines of name and value; members without a value are left out.
    static func details(_ columns: [Column], _ object: JSONValue) -> String {
        let width = columns.map(\.title.count).max() ?? 0
        return columns.compactMap { column in
            let value = CellText.of(column.value(in: object), column.style).printable
            guard !value.isEmpty else { return nil }
            return "\(column.title.padding(toLength: width, withPad: " ", startingAt: 0))  \(value)"
        }.joined(separator: "\n")
    }
}

/// A JSON value as the text of a cell.
enum CellText {
    /// Returns the text of a value; empty for `null` and `false`.
    static func of(_ value: JSONValue, _ style: TextTable.Column.Style = .plain) -> String {
        switch (value, style) {
        case (.integer(let milliseconds), .time): Self.time(milliseconds)
        case (.null, _), (.bool(false), _): ""
        case (.bool(true), _): "yes"
        case (.integer(let number), _): "\(number)"
        case (.number(let number), _): "\(number)"
        case (.string(let text), _): text
        case (.array(let values), _): values.map { Self.of($0) }.joined(separator: ", ")
        case (.object(let members), _):
            members.sorted { $0.key < $1.key }.map { "\($0.key) \(Self.of($0.value))" }.joined(separator: ", ")
        }
    }

    /// Returns a time in ISO 8601 with milliseconds, in UTC.
    static func time(_ milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
