import Metrics
import PushProvider
import PushSupport
import PushTesting
import Testing

@testable import PushBridges

/// The link of a component to its server.
@Suite(.timeLimit(.patience)) struct ComponentLinkTests {
    /// A resolver by which every name leads to this host, once the test says so. Nothing ends it before.
    private struct SlowResolver: NameResolver {
        let isAsked = Gate()
        let isAnswered = Gate()

        func addresses(of name: String, within limit: Duration) async throws -> [IPAddress] {
            self.isAsked.open()
            await self.isAnswered.pass()
            return IPAddress("127.0.0.1").map { [$0] } ?? []
        }
    }

    private static func link(to server: TestComponentServer, _ resolver: SlowResolver) throws -> ComponentLink {
        let settings: [String: JSONValue] = [
            "host": "slow.example", "port": .integer(Int64(server.port)), "tls": "none", "publicOnly": true,
        ]
        let connector = ComponentConnector(
            bridge: try ConfiguredComponent.testing(settings),
            timeout: .patience,
            addresses: AddressPolicy(allowsPrivate: true),
            resolver: resolver
        )
        return ComponentLink(
            connector: connector,
            answer: { _, _ in .result(nil) },
            metrics: ComponentMetrics(factory: NOOPMetricsHandler.instance),
            logger: silentLogger
        )
    }

    /// Resolving and connecting may take longer than a shutdown waits.
    @Test(arguments: [false, true]) func anEndDoesNotWaitForAConnection(isCancelled: Bool) async throws {
        try await TestComponentServer.run { server in
            let resolver = SlowResolver()
            let link = try Self.link(to: server, resolver)
            let stop = OneShotValue<Void>()
            let running = Task { await link.run(until: stop) }
            await resolver.isAsked.pass()
            if isCancelled { running.cancel() } else { stop.resolve(.success(())) }
            await running.value
            // The connection opens later, and is closed.
            resolver.isAnswered.open()
            let late = try #require(await server.next())
            while await late.next() != nil {}
        }
    }
}
