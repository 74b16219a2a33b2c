import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushBridges

/// Connections that are broken while their notifications are being stored.
@Suite(.timeLimit(.patience)) struct DrainingConnectionsTests {
    private func connection(_ fingerprint: String = "a") throws -> BinaryIntake.Connection {
        BinaryIntake.Connection(
            BinaryClient(
                bridge: Vectors.bundleID,
                app: 1,
                topic: try #require(Topic(Vectors.bundleID)),
                environment: .sandbox,
                certificateTopic: nil,
                fingerprint: fingerprint,
                dropsRepeats: true
            )
        )
    }

    @Test func aYoungerConnectionWaitsForAnOlderOne() async throws {
        let ending = DrainingConnections()
        let (older, younger) = (try self.connection(), try self.connection())
        let steps = Mutex<[String]>([])
        ending.begin(older)
        ending.begin(older)
        async let waiting: Void = {
            await ending.waitForOlder(than: younger)
            steps.withLock { $0.append("goes on") }
        }()
        steps.withLock { $0.append("has ended") }
        ending.end(older)
        await waiting
        #expect(steps.withLock { $0 } == ["has ended", "goes on"])
    }

    @Test func nobodyElseWaits() async throws {
        let ending = DrainingConnections()
        let (older, younger, other) = (try self.connection(), try self.connection(), try self.connection("b"))
        // The test would not end if one waited.
        ending.begin(younger)
        await ending.waitForOlder(than: older)
        await ending.waitForOlder(than: younger)
        await ending.waitForOlder(than: other)
        ending.end(older)
        ending.end(younger)
        await ending.waitForAll(atMost: .seconds(3600))
    }

    @Test func aShutdownWaitsForAllButNotForEver() async throws {
        let ending = DrainingConnections()
        let (first, second) = (try self.connection(), try self.connection("b"))
        for connection in [first, second] { ending.begin(connection) }
        await ending.waitForAll(atMost: .milliseconds(1))
        async let waiting: Void = ending.waitForAll(atMost: .seconds(3600))
        for connection in [first, second] { ending.end(connection) }
        await waiting
    }
}
