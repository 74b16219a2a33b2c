import ArgumentParser
import Benchmarking
import Foundation
import Logging
import NIOCore
import ProviderModel
import PushProvider
import PushSender
import PushTypes

/// Measures the bare sender, which the campaign is compared with: the same pushes, created before the measurement starts.
struct Bare: AsyncParsableCommand {
    /// The number of pushes in a batch, and of batches in flight, so that the sender always has work.
    private static let batch = 10_000
    private static let calls = 5

    @OptionGroup var tokens: TokenOptions
    @Option(help: "Port of the push service on localhost.") var port: Int
    @Flag(help: "All pushes go to one token, which costs the push service less than a million paths.")
    var oneToken = false
    @Option(help: "PEM file with the push service's authority.") var trustRoots: String
    @Option(help: "The app's .p8 file.") var key: String
    @Option(help: "File with the payload.") var payload: String

    func run() async throws {
        let sender = try self.sender()
        let pushes = try self.pushes()
        try await Self.send(pushes.prefix(Self.batch), with: sender)
        let start = ContinuousClock.now
        let cpu = try ProcessStatistics.own().cpuSeconds
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, first) in stride(from: 0, to: pushes.count, by: Self.batch).enumerated() {
                if index >= Self.calls { try await group.next() }
                group.addTask {
                    try await Self.send(pushes[first..<min(pushes.count, first + Self.batch)], with: sender)
                }
            }
            try await group.waitForAll()
        }
        let count = Double(pushes.count)
        figure("bare_rate", count / ((ContinuousClock.now - start) / .seconds(1)), "pushes/s")
        figure("bare_cpu", (try ProcessStatistics.own().cpuSeconds - cpu) * 1e6 / count, "us/push")
        await sender.close()
    }

    private func sender() throws -> Sender {
        let endpoint = PushServiceEndpoint(
            host: "localhost",
            port: self.port,
            additionalTrustRoots: try String(contentsOfFile: self.trustRoots, encoding: .utf8)
        )
        let key = try ProviderKey(
            teamID: BenchmarkApp.teamID,
            keyID: BenchmarkApp.keyID,
            pem: String(contentsOfFile: self.key, encoding: .utf8)
        )
        // The provider has the same configuration, and so the same number of connections.
        return try Sender(
            to: endpoint,
            credential: .token(key),
            configuration: SenderConfiguration(),
            logger: Logger(label: "benchmark")
        )
    }

    private func pushes() throws -> [Push] {
        let payload = ByteBuffer(bytes: try Data(contentsOf: URL(filePath: self.payload)))
        let ids = DeliveryID(notification: UUID())
        let tokens = try self.tokens.all()
        return tokens.enumerated().map { number, token in
            let notification = PushNotification(
                id: ids.text(recipient: Int64(number) + 1),
                topic: BenchmarkApp.topic,
                payload: payload
            )
            return Push(notification, to: self.oneToken ? tokens[0] : token)
        }
    }

    private static func send(_ pushes: ArraySlice<Push>, with sender: Sender) async throws {
        for outcome in await sender.send(Array(pushes)) {
            guard case .accepted = outcome else { throw BenchmarkFailure("a push was not accepted: \(outcome)") }
        }
    }
}
