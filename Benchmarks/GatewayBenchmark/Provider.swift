import Benchmarking
import Foundation
import Logging
import NIOCore
import PushSender
import PushTypes

/// The provider of the app that is on all devices.
enum Provider {
    static let teamID = "DEF123GHIJ"
    static let keyID = "ABC123DEFG"
    static var topic: Topic {
        guard let topic = Topic("com.example.MyApp") else { preconditionFailure("the topic is valid") }
        return topic
    }

    static func key(pem: String) throws -> ProviderKey {
        try ProviderKey(teamID: self.teamID, keyID: self.keyID, pem: pem)
    }

    /// Returns a sender with one connection to the gateway.
    static func sender(_ options: PushOptions, authority: String) throws -> Sender {
        var configuration = SenderConfiguration()
        configuration.maximumConnections = 1
        configuration.maximumInFlight = options.inFlight
        return try Sender(
            to: PushServiceEndpoint(host: "localhost", port: options.http2Port, additionalTrustRoots: authority),
            credential: .token(try self.key(pem: String(contentsOfFile: options.key, encoding: .utf8))),
            configuration: configuration,
            logger: Logger(label: "benchmark")
        )
    }

    /// Returns a push of usual size with a stamp, which is stored until it is acknowledged.
    static func push(_ stamp: Stamp, to token: DeviceToken) -> Push {
        let notification = PushNotification(
            id: UUID().uuidString,
            topic: self.topic,
            payload: ByteBuffer(string: stamp.payload)
        )
        return Push(notification, to: token)
    }

    /// Sends all pushes and checks that each was accepted.
    static func send(_ pushes: [Push], with sender: Sender) async throws {
        for outcome in await sender.send(pushes) {
            guard case .accepted = outcome else { throw BenchmarkFailure("a push was not accepted: \(outcome)") }
        }
    }
}
