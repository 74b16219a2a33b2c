import PushHTTP
import PushStore
import PushTypes

/// An app in a response.
struct AppResponse: Encodable {
    var bundleId: String
    var name: String?
    var rate: Int?
    var environments: [String]
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
            "bundleId": .string(),
            "environments": .array(of: .string()).described("The environments with a credential."),
            "createdAtMs": .timestamp,
        ],
        optional: [
            "name": .string(), "rate": .integer().described("Pushes per second of all its campaigns together."),
        ]
    ).named("App")
}
