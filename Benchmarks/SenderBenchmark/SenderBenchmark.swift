import ArgumentParser
import Foundation
import Logging
import NIOCore
import PushSender
import PushTypes

/// Sends pushes through the public bulk interface and prints their cost as one line of JSON.
@main
struct SenderBenchmark: AsyncParsableCommand {
    @Option(help: "Port of the server on localhost.") var port: Int
    @Option(help: "PEM file with the server's authority.") var trustRoots: String
    @Option(help: "A .p8 file; key and team id are made up.") var key: String
    @Option(help: "The device token, hexadecimal.") var token: String
    @Option(help: "File with the payload.") var payload: String
    @Option(help: "Pushes measured.") var count = 200_000
    @Option(help: "Pushes sent before.") var warmUp = 20_000
    @Option(help: "Requests in flight per connection.") var inFlight = 100
    @Option(help: "Connections.") var connections = 1
    @Option(help: "Pushes per call of the bulk interface.") var batch = 10_000
    @Flag(help: "One call per push, as many at once as may be in flight: prints the latency as callers see it.")
    var single = false

    func run() async throws {
        let sender = try self.makeSender()
        let run = BenchmarkRun(sender: sender, push: try self.push(), batch: self.batch)
        _ = try await run.bulk(self.warmUp, calls: self.connections + 1)
        let result =
            self.single
            ? try await run.singles(self.count, inFlight: self.inFlight * self.connections)
            : try await run.bulk(self.count, calls: self.connections + 1)
        print(result.json)
        await sender.close()
    }

    private func makeSender() throws -> Sender {
        var configuration = SenderConfiguration()
        configuration.maximumConnections = self.connections
        configuration.maximumInFlight = self.inFlight
        let endpoint = PushServiceEndpoint(
            host: "localhost",
            port: self.port,
            additionalTrustRoots: try String(contentsOfFile: self.trustRoots, encoding: .utf8)
        )
        let key = try ProviderKey(
            teamID: "DEF123GHIJ",
            keyID: "ABC123DEFG",
            pem: String(contentsOfFile: self.key, encoding: .utf8)
        )
        return try Sender(
            to: endpoint,
            credential: .token(key),
            configuration: configuration,
            logger: Logger(label: "benchmark")
        )
    }

    private func push() throws -> Push {
        guard let token = DeviceToken(hex: self.token), let topic = Topic("com.example.MyApp") else {
            throw ValidationError("--token is no device token")
        }
        let notification = PushNotification(
            id: "eabeae54-14a8-11e5-b60b-1697f925ec7b",
            topic: topic,
            expiration: .immediate,
            payload: ByteBuffer(bytes: try Data(contentsOf: URL(filePath: self.payload)))
        )
        return Push(notification, to: token)
    }
}
