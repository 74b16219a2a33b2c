import Foundation
package import ProviderModel
package import PushSupport
import PushTypes
import Testing

/// Reads content as the API does.
package enum Content {
    /// The content of a request with its warnings.
    @dynamicMemberLookup package struct Parsed {
        package var content: NotificationContent
        package var warnings: [ContentWarning]

        package var payloadText: String { String(decoding: self.content.payload, as: UTF8.self) }

        package subscript<Value>(dynamicMember path: KeyPath<NotificationContent, Value>) -> Value {
            self.content[keyPath: path]
        }
    }

    package static func parse(_ body: String, bundleID: String = Vectors.bundleID) throws -> Parsed {
        let fields = try JSONFields(parsing: Data(body.utf8), known: NotificationContent.object.known)
        let read = try NotificationContent.read(fields, bundleID: try #require(Topic(bundleID)), now: nil)
        return Parsed(content: read.content, warnings: read.warnings)
    }

    /// Returns the error that a request is rejected with; `nil` if it is accepted.
    package static func error(_ body: String, bundleID: String = Vectors.bundleID) -> RequestError? {
        do {
            _ = try Self.parse(body, bundleID: bundleID)
            return nil
        } catch {
            return error as? RequestError
        }
    }
}
