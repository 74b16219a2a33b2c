import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Reads content as the API does.
enum Content {
    /// The content of a request with its warnings.
    @dynamicMemberLookup struct Parsed {
        var content: NotificationContent
        var warnings: [ContentWarning]

        var payloadText: String { String(decoding: self.content.payload, as: UTF8.self) }

        subscript<Value>(dynamicMember path: KeyPath<NotificationContent, Value>) -> Value {
            self.content[keyPath: path]
        }
    }

    static func parse(_ body: String, bundleID: String = Vectors.bundleID) throws -> Parsed {
        let fields = try JSONFields(parsing: Data(body.utf8), known: NotificationContent.object.known)
        let read = try NotificationContent.read(fields, bundleID: try #require(Topic(bundleID)), now: nil)
        return Parsed(content: read.content, warnings: read.warnings)
    }

    /// Returns the error that a request is rejected with; `nil` if it is accepted.
    static func error(_ body: String, bundleID: String = Vectors.bundleID) -> RequestError? {
        do {
            _ = try Self.parse(body, bundleID: bundleID)
            return nil
        } catch {
            return error as? RequestError
        }
    }

    /// Returns the payload of `body` for one device.
    static func render(
        _ body: String,
        for profile: RecipientProfile = RecipientProfile(),
        badge: Int? = nil
    ) throws -> String {
        var renderer = try Self.renderer(try Self.parse(body))
        return String(decoding: try renderer.render(for: profile, badge: badge), as: UTF8.self)
    }

    static func renderer(_ parsed: Parsed) throws -> ContentRenderer { try ContentRenderer(parsed.content) }
}

extension RecipientProfile {
    /// A device with these attributes, in JSON.
    init(attributes: String) {
        self.init(attributes: Data(attributes.utf8))
    }
}
