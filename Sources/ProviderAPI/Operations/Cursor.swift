import Foundation
import PushSupport

/// Where a list goes on: an opaque text for callers, base64url of the list's letter and a position, or two for two lists
/// in one answer.
struct Cursor: Hashable, Sendable {
    /// What is listed, so that the cursor of one list is not taken for that of another.
    enum List: String, Sendable {
        case devices = "d"
        case notifications = "n"
        case deliveries = "r"
        case tokenEvents = "t"
        case audit = "a"
        case history = "h"
        case schedules = "s"
    }

    /// In bytes.
    static let maximumLength = 64

    let list: List
    let position: Int64
    let second: Int64?

    init(list: List, position: Int64, second: Int64? = nil) {
        self.list = list
        self.position = position
        self.second = second
    }

    /// - Throws: ``RequestError`` for text that is no cursor of this list.
    init(text: String, list: List) throws(RequestError) {
        guard let cursor = Self.read(text, list: list), cursor.text == text else {
            throw RequestError(
                .invalid,
                code: "invalid_cursor",
                message: "use the member next of the answer before, as it is, or leave it out to begin",
                path: "cursor"
            )
        }
        self = cursor
    }

    private static func read(_ text: String, list: List) -> Cursor? {
        guard let data = Self.decode(text), let plain = String(bytes: data, encoding: .utf8),
            plain.hasPrefix(list.rawValue)
        else { return nil }
        let numbers = plain.dropFirst(list.rawValue.count).split(separator: ".", omittingEmptySubsequences: false)
        guard numbers.count == (list == .history ? 2 : 1), let position = Int64(numbers[0]) else { return nil }
        guard numbers.count == 2 else { return Cursor(list: list, position: position) }
        guard let second = Int64(numbers[1]) else { return nil }
        return Cursor(list: list, position: position, second: second)
    }

    var text: String {
        Data("\(self.list.rawValue)\(self.position)\(self.second.map { ".\($0)" } ?? "")".utf8).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    private static func decode(_ text: String) -> Data? {
        guard text.utf8.count <= Self.maximumLength else { return nil }
        let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        return Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4))
    }
}
