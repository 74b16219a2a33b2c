import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Reads content as the API does.
enum Content {
    static func parse(_ body: String, bundleID: String = Vectors.bundleID) throws -> ContentDefinition {
        let fields = try JSONFields(parsing: Data(body.utf8), known: ContentDefinition.members)
        return try ContentDefinition(fields, bundleID: try #require(Topic(bundleID)), now: nil)
    }

    static func refusal(_ body: String, bundleID: String = Vectors.bundleID) -> RequestError? {
        do {
            _ = try Self.parse(body, bundleID: bundleID)
            return nil
        } catch {
            return error as? RequestError
        }
    }

    /// The payload of `body` for one device.
    static func render(_ body: String, for subject: RenderSubject = RenderSubject()) throws -> String {
        var renderer = try Self.renderer(try Self.parse(body))
        return String(decoding: try renderer.render(for: subject), as: UTF8.self)
    }

    static func renderer(_ content: ContentDefinition) throws -> ContentRenderer {
        try ContentRenderer(payload: content.payload, isTemplate: content.isTemplate, pushType: content.pushType)
    }
}

extension RenderSubject {
    /// A device with these attributes, in JSON.
    init(attributes: String) {
        self.init(attributes: Data(attributes.utf8))
    }
}

extension ContentDefinition {
    var payloadText: String { String(decoding: self.payload, as: UTF8.self) }
}
