import NIOCore
import NIOPosix
import PushProvider
import PushSupport
import PushTesting
import Synchronization
import Testing

@testable import PushBridges

/// The addresses that sessions connect to.
@Suite(.timeLimit(.patience)) struct ChatConnectorTests {
    /// A resolver that gives one answer after the other, the last one again and again.
    private final class ChangingResolver: NameResolver {
        private let state: Mutex<(answers: [String], lookUps: Int)>

        init(_ answers: String...) { self.state = Mutex((answers, 0)) }

        var lookUps: Int { self.state.withLock { $0.lookUps } }

        func addresses(of name: String, within limit: Duration) async throws -> [IPAddress] {
            let answer = self.state.withLock { state in
                state.lookUps += 1
                return state.answers.count > 1 ? state.answers.removeFirst() : state.answers.first
            }
            return answer.flatMap { IPAddress($0) }.map { [$0] } ?? []
        }
    }

    /// Connects to a server of this host by a name.
    private static func connect(_ connector: ChatConnector, port: Int, attempt: Int) async throws {
        try await connector.connect(
            to: "rebound.example",
            port: port,
            app: 1,
            attempt: attempt,
            on: MultiThreadedEventLoopGroup.singleton.any()
        ) { $0.eventLoop.makeSucceededVoidFuture() }
    }

    /// A name that resolves to a public address when it is checked, and to this host when the connection is made.
    @Test func aNameThatIsReboundReachesNoPrivateAddress() async throws {
        let server = try await StubChatServer.start { _ in .irc }
        // No host has the first address: the connection to it ends with the limit at the latest.
        let resolver = ChangingResolver("3ffe:ffff::1", "127.0.0.1")
        let connector = ChatConnector(
            addresses: AddressPolicy(),
            authorities: nil,
            resolver: resolver,
            timeout: .milliseconds(100)
        )
        for attempt in 1...2 {
            await #expect(throws: ChatFailure.self) {
                try await Self.connect(connector, port: server.port, attempt: attempt)
            }
            // One look-up for each connection, whose address is checked.
            #expect(resolver.lookUps == attempt)
        }
        #expect(server.connections == 0)
        try await server.stop()
    }

    @Test func aConnectionGoesToTheAddressThatWasChecked() async throws {
        let server = try await StubChatServer.start { _ in .irc }
        // No other resolver knows the name: had the connection asked one, nothing would arrive.
        let resolver = ChangingResolver("127.0.0.1", "10.0.0.1")
        let connector = ChatConnector(
            addresses: AddressPolicy(allowsPrivate: true),
            authorities: nil,
            resolver: resolver,
            timeout: .patience
        )
        try await Self.connect(connector, port: server.port, attempt: 1)
        try await eventually { server.connections > 0 }
        #expect(resolver.lookUps == 1)
        try await server.stop()
    }
}
