import Foundation
import ProviderModel
import PushStore
import PushTesting

@testable import PushProvider

extension Content {
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
