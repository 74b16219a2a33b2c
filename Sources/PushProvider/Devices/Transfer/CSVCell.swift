import Foundation
import PushSupport

/// Converts between the text of CSV cells and values.
enum CSVCell {
    /// Returns the non-empty items of a list that `|` separates. In an item, `\|` is a bar and `\\` a backslash.
    static func list(_ text: String) -> [String] {
        guard text.utf8.contains(UInt8(ascii: "\\")) else { return text.split(separator: "|").map(String.init) }
        var (parts, part, isEscaped) = ([String](), "", false)
        for scalar in text.unicodeScalars {
            if isEscaped {
                if scalar != "|", scalar != "\\" { part.unicodeScalars.append("\\") }
                part.unicodeScalars.append(scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "|" {
                parts.append(part)
                part = ""
            } else {
                part.unicodeScalars.append(scalar)
            }
        }
        if isEscaped { part.unicodeScalars.append("\\") }
        parts.append(part)
        return parts.filter { !$0.isEmpty }
    }

    /// Returns a list in the text form that ``list(_:)`` parses.
    static func text(_ list: some Sequence<String>) -> String {
        list.map { $0.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "|", with: "\\|") }
            .joined(separator: "|")
    }

    /// Returns the attribute value in a cell: a Boolean, a number or a string.
    static func value(_ text: String) -> JSONValue {
        switch text {
        case "true": return .bool(true)
        case "false": return .bool(false)
        default: break
        }
        // A number has no leading zero, so that 01067 stays a text.
        guard let first = text.utf8.first, first == UInt8(ascii: "-") || (0x30...0x39).contains(first),
            let last = text.utf8.last, (0x30...0x39).contains(last), text.utf8.count <= 32,
            let value = try? JSONValue(parsing: Data(text.utf8))
        else { return .string(text) }
        return value
    }

    /// Returns the members of the JSON object in a cell. Any other text is an error that names `column`.
    static func object(_ text: String, in column: String) throws(RequestError) -> [String: JSONValue] {
        guard case .object(let members)? = try? JSONValue(parsing: Data(text.utf8)) else {
            throw RequestError(.invalid, code: "wrong_type", message: "it must be a JSON object", path: column)
        }
        return members
    }
}
