package import Foundation
package import HTTPTypes
package import Hummingbird
import NIOCore

// Goes when the last response is a ResponseObject.
extension JSONEncoder {
    /// An encoder for responses, with members in alphabetical order.
    package static var sorted: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}

extension Response {
    @_disfavoredOverload
    package static func json(
        _ value: some Encodable,
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:]
    ) throws -> Response {
        .content(ByteBuffer(bytes: try JSONEncoder.sorted.encode(value)), "application/json", status, headers)
    }
}

/// A list, or one page of it: `{"NAME":[…],"next":"…"}`.
package struct ListResponse<Entry: Encodable>: Encodable {
    private let name: String
    private let entries: [Entry]
    private let next: String?

    /// - Parameter next: where the next page begins; `nil` at the end, and in a list without pages.
    package init(_ name: String, _ entries: [Entry], next: String? = nil) {
        (self.name, self.entries, self.next) = (name, entries, next)
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(self.entries, forKey: Key(stringValue: self.name))
        try container.encodeIfPresent(self.next, forKey: Key(stringValue: "next"))
    }
}
