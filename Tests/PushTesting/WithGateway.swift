import Foundation
package import PushGateway
package import PushSupport
import PushTypes

/// A gateway that is running, and how to reach it.
package struct RunningGateway: Sendable {
    package let gateway: Gateway
    package let addresses: GatewayAddresses
    package let dataDirectory: String

    package var admin: JSONClient { JSONClient(baseURL: "http://127.0.0.1:\(self.addresses.admin)") }

    /// Registers the vectors' app and key.
    package func registerVectors() async throws {
        try await self.admin.post(
            "/v1/apps",
            ["teamId": .string(Vectors.teamID), "bundleId": .string(Vectors.bundleID)]
        )
        try await self.admin.post(
            "/v1/keys",
            [
                "teamId": .string(Vectors.teamID), "keyId": .string(Vectors.keyID), "key": .string(Vectors.privateKey),
            ]
        )
    }
}

/// Runs a gateway on free loopback ports for the duration of `body`; throws if a door could not be opened.
package func withGateway<Value: Sendable>(
    in dataDirectory: String,
    time: any TimeSource = SystemTime(),
    configure: (inout GatewayConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (RunningGateway) async throws -> Value
) async throws -> Value {
    var configuration = GatewayConfiguration(dataDirectory: dataDirectory)
    configuration.listeners = [.sandbox: .free]
    configuration.admin.port = 0
    configuration.limits.bePatient()
    configure(&configuration)
    let gateway = try Gateway(configuration: configuration, time: time, logger: silentLogger)
    return try await withServices([gateway]) {
        let addresses = try await gateway.addresses()
        return try await body(
            RunningGateway(gateway: gateway, addresses: addresses, dataDirectory: dataDirectory)
        )
    }
}
