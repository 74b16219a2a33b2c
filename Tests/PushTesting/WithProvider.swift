import Foundation
package import Logging
package import ProviderAPI
import PushProvider
package import PushSender
package import PushSupport
package import PushTypes

/// A provider that is running, and how to reach it as an administrator.
package struct RunningProvider: Sendable {
    package let api: JSONClient

    package init(api: JSONClient) {
        self.api = api
    }

    /// Creates the vectors' app with a credential for both environments, or some.
    package func addVectorsApp(in environments: [PushEnvironment] = PushEnvironment.allCases) async throws {
        try await self.api.post("/v1/apps", ["bundleId": .string(Vectors.bundleID)])
        for environment in environments {
            try await self.api.put(
                "/v1/apps/\(Vectors.bundleID)/credentials/\(environment.rawValue)",
                [
                    "teamId": .string(Vectors.teamID), "keyId": .string(Vectors.keyID),
                    "privateKey": .string(Vectors.privateKey),
                ]
            )
        }
    }

    package func register(_ token: String, _ more: [String: JSONValue] = [:]) async throws -> JSONClient.Response {
        var body: [String: JSONValue] = ["token": .string(token), "environment": "sandbox"]
        body.merge(more) { $1 }
        return try await self.api.post("/v1/apps/\(Vectors.bundleID)/devices", .object(body))
    }

    package func send(_ body: JSONValue, headers: [String: String] = [:]) async throws -> JSONClient.Response {
        try await self.api.post("/v1/apps/\(Vectors.bundleID)/notifications", body, headers: headers)
    }

    /// Asks for the notification's progress until every recipient has a final state.
    package func finished(_ answer: JSONClient.Response) async throws -> JSONValue {
        try await self.finished(answer.json["id"].stringValue ?? "")
    }

    /// As ``finished(_:)-(JSONClient.Response)``, by the notification's id.
    package func finished(_ id: String) async throws -> JSONValue {
        while true {
            let progress = try await self.api.get("/v1/notifications/\(id)").json
            if progress["state"] == "done" { return progress }
            try Task.checkCancellation()
        }
    }

    package func deliveries(_ answer: JSONClient.Response) async throws -> [JSONValue] {
        let id = answer.json["id"].stringValue ?? ""
        return try await self.api.get("/v1/notifications/\(id)/deliveries").json["deliveries"].elements
    }
}

/// Runs a provider on a free loopback port, with a new database, for the duration of `body`.
package func withProvider<Value: Sendable>(
    senders: any SenderSource,
    time: any TimeSource = SystemTime(),
    compatibility: CompatibilityConfiguration = CompatibilityConfiguration(),
    logger: Logger = silentLogger,
    addition: (ProviderComponents) throws -> (any ProviderExtension)? = { _ in nil },
    pages: (PageComponents) throws -> (any ProviderPages)? = { _ in nil },
    configure: (inout ProviderConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (RunningProvider) async throws -> Value
) async throws -> Value {
    try await withTemporaryDirectory { directory in
        var configuration = ProviderConfiguration(dataDirectory: directory)
        configuration.port = 0
        configuration.bePatient()
        configuration.compatibility = compatibility
        // Passwords of tests are no secrets.
        configuration.passwords = StoredPassword.Parameters(logarithm: 4, blockSize: 8, parallelism: 1)
        configure(&configuration)
        let server = try await ProviderServer(
            configuration: configuration,
            senders: senders,
            addition: addition,
            pages: pages,
            time: time,
            logger: logger
        )
        let key = server.firstAdminKey
        return try await withServices([server]) {
            let port = try await server.port()
            return try await body(
                RunningProvider(api: JSONClient(baseURL: "http://127.0.0.1:\(port)", apiKey: key))
            )
        }
    }
}
