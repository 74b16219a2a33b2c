import Logging
import ProviderAPI
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

/// The old providers of the configuration, whose bridges are set at the start.
@Suite(.timeLimit(.patience)) struct BinaryBridgeServiceTests {
    /// Starts the listeners in a provider, with an old provider of a topic.
    /// - Parameter before: Is called before the start.
    private static func withOldProvider(
        of topic: String,
        before: @escaping @Sendable (RunningProvider) async throws -> Void,
        _ body: @escaping @Sendable (JSONClient, RecordedLog) async throws -> Void
    ) async throws {
        let (parts, log) = (OneShotValue<ProviderComponents>(), RecordedLog(level: .warning))
        let client = BinaryBridgeConfiguration.Client(
            topic: try #require(Topic(topic)),
            environment: .sandbox,
            fingerprints: [],
            credentials: [:]
        )
        try await withProvider(
            senders: ScriptedSender(),
            logger: log.logger,
            addition: {
                parts.resolve(.success($0))
                return try Bridges($0)
            }
        ) { provider in
            try await before(provider)
            try await withTemporaryDirectory { directory in
                var configuration = try BinaryBridgeFixture.configuration(in: directory)
                configuration.clients = [client]
                let service = try BinaryBridgeService(configuration, try await parts.value)
                try await withServices([service]) {
                    _ = try await service.ports()
                    try await body(provider.api, log)
                }
            }
        }
    }

    /// Before, it was refused, as it was set for the app without the suffix.
    @Test func aWholeTopicThatIsAnAppIsThatAppsBridge() async throws {
        let topic = "\(Vectors.bundleID).voip"
        try await Self.withOldProvider(
            of: topic,
            before: { provider in try await provider.api.post("/v1/apps", ["bundleId": .string(topic)]) }
        ) { api, _ in
            let bridge = try await api.get("/v1/apps/\(topic)/bridges/binary/\(topic)")
            #expect(bridge.status == 200)
            let other = try await api.get("/v1/apps/\(Vectors.bundleID)")
            #expect(other.status == 404)
        }
    }

    @Test func anAppGetsItsTopicFromANeighbour() async throws {
        let neighbours = "/v1/apps/\(Vectors.bundleID)/bridges/binary/org.later"
        try await Self.withOldProvider(
            of: "org.later",
            before: { provider in
                try await provider.addVectorsApp()
                try await provider.api.put(neighbours, [:])
            }
        ) { api, log in
            let own = try await api.get("/v1/apps/org.later/bridges/binary/org.later")
            #expect(own.status == 200)
            let replaced = try await api.get(neighbours)
            #expect(replaced.status == 404)
            let lines = log.lines.filter { $0.hasPrefix("a bridge was replaced: ") }
            #expect(lines.count == 1)
            #expect(lines.first?.hasSuffix(" app=\(Vectors.bundleID) bridge=binary org.later") == true)
        }
    }
}
