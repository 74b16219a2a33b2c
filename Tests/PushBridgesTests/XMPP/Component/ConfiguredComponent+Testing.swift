import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

extension ConfiguredComponent {
    /// Makes the component `push.example.org` of the vectors' app.
    static func testing(_ settings: [String: JSONValue]) throws -> ConfiguredComponent {
        let record = BridgeRecord(
            kind: .xmpp,
            name: "push.example.org",
            app: 1,
            settings: .object(settings),
            secret: "secret",
            changedAt: Vectors.issuedAt
        )
        return try ConfiguredComponent(record, bundleID: try #require(Topic(Vectors.bundleID)))
    }
}
