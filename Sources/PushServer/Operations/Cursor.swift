import Foundation
import PushProtocol

/// Where a list goes on: an opaque text for callers, base64url of the list's letter and a position.
struct Cursor: Hashable, Sendable {
    /// What is listed, so that the cursor of one list is not taken for that of another.
    enum List: String, Sendable {
        case devices = "d"
        case notifications = "n"
        case deliveries = "r"
        case tokenEvents = "t"
        case audit = "a"
    }

    /// In bytes.
    static let maximumLength = 64

    let list: List
    let position: Int64

    init(list: List, position: Int64) {
        self.list = list
        self.position = position
    }

    /// - Throws: ``APIRefusal`` for text that is no cursor of this list.
    init(text: String, list: List) throws(APIRefusal) {
        guard let data = Self.decode(text), let plain = String(bytes: data, encoding: .utf8),
            plain.hasPrefix(list.rawValue), let position = Int64(plain.dropFirst(list.rawValue.count)),
            Cursor(list: list, position: position).text == text
        else {
            throw APIRefusal(
                status: 400,
                code: "invalid_cursor",
                message: "use the member next of the answer before, as it is, or leave it out to begin",
                field: "cursor"
            )
        }
        self.init(list: list, position: position)
    }

    var text: String {
        Data("\(self.list.rawValue)\(self.position)".utf8).base64EncodedString()
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
