import NIOCore
import NIOPosix
import PushSupport
import PushTesting
import PushTypes
import PushWire
import Synchronization
import Testing

@testable import PushSender

/// Taking pushes back from a sender, at a push service that allows few streams (docs/decisions/0051).
@Suite(.timeLimit(.patience)) struct TakingBackTests {
    private static let few = [ScriptedService.Act.settings([(.maximumConcurrentStreams, 4)]), .window(1_000_000)]

    /// The response 200 to an earlier request.
    private static func response(to stream: UInt32) -> ScriptedService.Act {
        .bytes([0, 0, 1, 1, 5, 0, 0, 0, UInt8(stream), 0x88])
    }

    /// A call that takes pushes back while the service handles a request, when exactly four pushes are in flight.
    private final class Recall: Sendable {
        let indices: Set<Int>
        private let batch = Mutex<SendBatch?>(nil)
        private let count = Mutex<Int?>(nil)

        init(_ indices: Set<Int>) { self.indices = indices }

        /// The number of pushes under way that the call named; `nil` before it.
        var underWay: Int? { self.count.withLock { $0 } }

        /// Sends ten pushes.
        func send(by pool: ConnectionPool) async -> SentPushes {
            let batch = SendBatch(makePushes(10), in: pool, metrics: pool.metrics)
            self.batch.withLock { $0 = batch }
            pool.send(batch)
            return await batch.sent
        }

        func take() {
            let underWay = self.batch.withLock { $0 }?.takeBack { self.indices.contains($0) }
            self.count.withLock { $0 = underWay }
        }
    }

    private func with(
        _ recall: Recall,
        script: @escaping ScriptedService.Script,
        _ check: (SentPushes, ScriptedService) -> Void
    ) async throws {
        let service = try await ScriptedService.start(script: script)
        var configuration = SenderConfiguration.patient
        configuration.maximumConnections = 1
        (configuration.reconnectBase, configuration.reconnectMaximum) = (.milliseconds(5), .milliseconds(20))
        let pool = try ConnectionPool(
            endpoint: service.endpoint,
            credential: .token(try ProviderTokenSignerTests.key()),
            configuration: configuration,
            group: MultiThreadedEventLoopGroup.singleton,
            time: SystemTime(),
            logger: silentLogger
        )
        check(await recall.send(by: pool), service)
        await pool.close()
        await service.stop()
    }

    /// What waits for a stream is never sent. What has one is counted, and ends as the service says.
    @Test func whatWaitsForAStreamIsTakenBack() async throws {
        let recall = Recall([0, 2, 5, 6, 7, 8, 9])
        let script: ScriptedService.Script = { _, event in
            guard case .request(let request) = event else { return Self.few }
            switch request.number {
            case 0..<3: return []
            case 3:
                recall.take()
                return [.reply()]
            case 4: return [.reply()] + [1, 3, 5].map(Self.response)
            default: return [.reply()]
            }
        }
        try await self.with(recall, script: script) { sent, service in
            #expect(recall.underWay == 2)
            #expect(sent.outcomes.prefix(5).map(\.kind) == Array(repeating: "accepted", count: 5))
            #expect(Array(sent.outcomes.dropFirst(5)) == Array(repeating: Outcome.notSent(.takenBack), count: 5))
            #expect(service.requests.map(\.id) == (0..<5).map { "push-\($0)" })
        }
    }

    /// What the service has not processed comes back, and is not sent again if a stop came meanwhile.
    @Test func whatAConnectionReturnsIsTakenBackToo() async throws {
        let recall = Recall([1, 2, 4, 5, 6, 7, 8, 9])
        let script: ScriptedService.Script = { connection, event in
            guard case .request(let request) = event else { return Self.few }
            guard connection == 0 else { return [.reply()] }
            guard request.number == 3 else { return [] }
            recall.take()
            return [.goAway(last: 0)]
        }
        try await self.with(recall, script: script) { sent, service in
            #expect(recall.underWay == 2)
            let sentIndices = sent.outcomes.indices.filter { sent.outcomes[$0].kind == "accepted" }
            #expect(sentIndices == [0, 3])
            #expect(sent.outcomes.filter { $0 == .notSent(.takenBack) }.count == 8)
            #expect(Set(service.requests.filter { $0.connection > 0 }.map(\.id)) == ["push-0", "push-3"])
        }
    }

    @Test func aPushIsTakenBackUntilItBegins() {
        let recalls = Mutex(0)
        let call = SteppedCall(count: 3) { recalls.withLock { $0 += 1 } }
        #expect(call.begins(0) && call.begins(1))
        #expect(call.takeBack { $0 != 1 } == 1)
        #expect(recalls.withLock { $0 } == 1)
        #expect(!call.begins(2) && !call.begins(0), "it does not begin again")
        #expect(call.begins(1))
        #expect(call.isRecalled(0) && !call.isRecalled(1))
    }
}
