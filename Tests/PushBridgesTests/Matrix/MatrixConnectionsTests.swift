import NIOEmbedded
import PushHTTP
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

@Suite struct MatrixConnectionsTests {
    @Test func aTokenKeepsFewConnections() throws {
        let connections = MatrixConnections(ConnectionLimiter(BudgetRegistry(), logger: silentLogger))
        func keep(_ channel: EmbeddedChannel, _ token: Int, of app: Int64 = 1) -> Bool {
            connections.keep(channel, for: .numbered(token), of: app, BudgetCaller())
            return connections.isKept(channel)
        }
        let first = (0..<MatrixConnections.perToken).map { _ in EmbeddedChannel() }
        for channel in first { #expect(keep(channel, 1)) }
        let (another, further) = (EmbeddedChannel(), EmbeddedChannel())
        #expect(!keep(another, 1))
        #expect(keep(another, 2))
        #expect(keep(another, 1), "it is kept already")
        #expect(!keep(further, 1))
        // The end of one makes room, and is the end of what is known of it.
        _ = try first[0].finish()
        #expect(!connections.isKept(first[0]))
        #expect(keep(further, 1))
        for channel in first.dropFirst() + [another, further] { _ = try channel.finish() }
        let last = EmbeddedChannel()
        #expect(keep(last, 1, of: 2))
        _ = try last.finish()
    }
}
