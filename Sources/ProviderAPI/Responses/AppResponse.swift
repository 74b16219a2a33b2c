import PushStore
import PushTypes

/// An app.
struct AppResponse: Encodable {
    var bundleId: String
    var name: String?
    /// Pushes per second of all its campaigns together.
    var rate: Int?
    /// Those for which there is a credential.
    var environments: [String]
    /// Milliseconds since 1970, as every time here.
    var createdAtMs: Int64

    init(_ app: AppRecord, environments: Set<PushEnvironment>) {
        self.bundleId = app.bundleID.name
        self.name = app.name
        self.rate = app.rate
        self.environments = environments.map(\.rawValue).sorted()
        self.createdAtMs = app.createdAt.milliseconds
    }

    static let schema = Schema.object(
        required: [
            "bundleId": .string(), "environments": .array(of: .string()).described("Those with a credential."),
            "createdAtMs": .moment,
        ],
        optional: [
            "name": .string(), "rate": .integer().described("Pushes per second of all its campaigns together."),
        ]
    ).named("App")
}
