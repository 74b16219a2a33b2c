import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushSender

/// The outcomes of one call, and the ways of its pushes.
@Suite(.timeLimit(.patience)) struct SendBatchTests {
    private static func connection(_ port: Int) -> OpenedConnection {
        OpenedConnection(service: "s:1", address: "192.0.2.1:1", localPort: port, openedAt: .atEpoch)
    }

    @Test func everyPushHasItsWayInTheOrderOfTheCall() async {
        let batch = SendBatch(makePushes(4), metrics: SenderMetrics(service: "test"))
        let (first, second) = (Self.connection(1), Self.connection(2))
        func accepted(_ index: Int) -> SendResult {
            SendResult(index: index, outcome: .accepted(.init(id: "\(index)")))
        }
        batch.finish([accepted(2)], over: second)
        batch.finish([accepted(0)], over: first)
        batch.finish([accepted(3)], over: second)
        batch.finish([SendResult(index: 1, outcome: .notSent(.init("closed")))])
        let sent = await batch.sent
        #expect(sent.outcomes.count == 4)
        #expect(sent.connections.map(\.localPort) == [2, 1])
        #expect(sent.trips.map(\.connection) == [1, -1, 0, 0])
        #expect(sent.trips.allSatisfy { $0.milliseconds >= 0 })
    }

    /// A caller that takes the results as they come keeps nothing.
    @Test func aBatchWithAnObserverKeepsNoWays() async {
        let batch = SendBatch(makePushes(1), metrics: SenderMetrics(service: "test")) { _ in }
        batch.finish([SendResult(index: 0, outcome: .accepted(.init(id: "x")))], over: Self.connection(1))
        let sent = await batch.sent
        #expect(sent.outcomes.isEmpty && sent.trips.isEmpty && sent.connections.isEmpty)
    }
}

extension Timestamp {
    fileprivate static let atEpoch = Timestamp(milliseconds: 0)
}
