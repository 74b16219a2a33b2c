import NIOCore
import PushTesting
import PushTypes
import PushWire
import Testing

/// Reference 6 and 8.8: the writes, and the condition for clearing.
@Suite struct FeedbackServerStateMachineTests {
    private typealias Action = FeedbackServerStateMachine.Action
    private static let end: [Action] = [.finish(after: .milliseconds(250))]
    private let now = Timestamp(seconds: 1_700_000_000)

    @Test func theVectorIsWritten() throws {
        let tuples = [
            try Self.tuple(Vectors.tokenA, at: 1_700_000_000), try Self.tuple(Vectors.tokenC, at: 1_700_000_500),
        ]
        var machine = FeedbackServerStateMachine(now: self.now)
        #expect(machine.start([try Self.topic()], now: self.now) == [.load(try Self.topic(), after: nil)])
        guard case .write(let buffer) = machine.loaded(tuples, now: self.now).first else {
            Issue.record("nothing is written")
            return
        }
        let vector = "6553f1000020\(Vectors.tokenA)6553f2f40036\(Vectors.tokenC)"
        #expect(Hexadecimal.encode(buffer.readableBytesView) == vector)
        #expect(machine.written(now: self.now) == Self.end)
        machine.outputClosed(now: self.now)
        #expect(machine.connectionClosed(isClean: true) == [.clear(count: tuples.count)])
        #expect(machine.connectionClosed(isClean: true).isEmpty)
    }

    @Test func pagesAndTopicsFollowEachOther() throws {
        let (first, second) = (try Self.topic("a"), try Self.topic("b"))
        let tuples = try (0..<3).map { try Self.tuple($0) }
        var machine = Self.machine(self.now) { $0.page = 2 }
        #expect(machine.start([first, second], now: self.now) == [.load(first, after: nil)])
        #expect(machine.loaded(Array(tuples[..<2]), now: self.now).count == 1)
        #expect(machine.written(now: self.now) == [.load(first, after: tuples[1].token)])
        #expect(machine.loaded([tuples[2]], now: self.now).count == 1)
        #expect(machine.written(now: self.now) == [.load(second, after: nil)])
        #expect(machine.loaded([], now: self.now) == Self.end)
        machine.outputClosed(now: self.now)
        #expect(machine.connectionClosed(isClean: true) == [.clear(count: tuples.count)])
    }

    /// Findings D2: a client that takes what one TLS record brings for whole tuples reads all of them.
    @Test func everyWriteHoldsWholeTuplesAndFitsIntoOneRecord() throws {
        let tuples = try (0..<300).map { number in
            FeedbackTuple(
                seconds: 1,
                token: try #require(
                    DeviceToken(bytes: [UInt8](repeating: UInt8(number & 255), count: 71 + number % 16))
                )
            )
        }
        var machine = FeedbackServerStateMachine(now: self.now)
        _ = machine.start([try Self.topic()], now: self.now)
        var actions = machine.loaded(tuples, now: self.now)
        var (read, writes) = ([FeedbackTuple](), 0)
        while case .write(var record) = actions.first {
            writes += 1
            #expect(record.readableBytes <= 4096)
            while let tuple = try FeedbackTuple.read(from: &record) { read.append(tuple) }
            #expect(record.readableBytes == 0, "a tuple is cut")
            actions = machine.written(now: self.now)
        }
        #expect(writes > 5)
        #expect(read == tuples)
        #expect(actions == Self.end)
    }

    /// Findings D1: Go's TLS reports the end together with the last tuple when it finds both at once.
    @Test func theEndFollowsTheLastTupleAfterAPauseAndAnEmptyListAtOnce() throws {
        var machine = try self.loaded([try Self.tuple(Vectors.tokenA, at: 1)])
        #expect(machine.written(now: self.now) == [.finish(after: .milliseconds(250))])
        #expect(machine.connectionClosed(isClean: true).isEmpty, "a client that leaves in the pause keeps its entries")
        var empty = FeedbackServerStateMachine(now: self.now)
        _ = empty.start([try Self.topic()], now: self.now)
        #expect(empty.loaded([], now: self.now) == [.finish(after: .zero)])
    }

    @Test func whatIsNotWrittenToItsEndIsNotCleared() throws {
        let tuples = try (0..<300).map { try Self.tuple($0) }
        var machine = try self.loaded(tuples)
        _ = machine.written(now: self.now)
        #expect(machine.connectionClosed(isClean: true).isEmpty)
    }

    @Test func oneConnectionGetsSoMuchAndNoMore() throws {
        var machine = Self.machine(self.now) {
            $0.page = 2
            $0.tuples = 3
        }
        let tuples = try (0..<4).map { try Self.tuple($0) }
        _ = machine.start([try Self.topic()], now: self.now)
        _ = machine.loaded(Array(tuples[..<2]), now: self.now)
        _ = machine.written(now: self.now)
        _ = machine.loaded(Array(tuples[2...]), now: self.now)
        #expect(machine.written(now: self.now) == Self.end)
        machine.outputClosed(now: self.now)
        #expect(machine.connectionClosed(isClean: true) == [.clear(count: 3)])
    }

    @Test func aConnectionThatBreaksClearsNothing() throws {
        let tuples = [try Self.tuple(Vectors.tokenA, at: 1)]
        for isClean in [true, false] {
            var machine = try self.loaded(tuples)
            #expect(machine.connectionClosed(isClean: isClean).isEmpty, "while it is written")
            machine = try self.loaded(tuples)
            _ = machine.written(now: self.now)
            #expect(machine.connectionClosed(isClean: isClean).isEmpty, "before the write side was closed")
        }
        var machine = try self.loaded(tuples)
        _ = machine.written(now: self.now)
        machine.outputClosed(now: self.now)
        #expect(machine.connectionClosed(isClean: false).isEmpty)
    }

    @Test func whatTakesTooLongIsCutOff() throws {
        var machine = FeedbackServerStateMachine(now: self.now)
        #expect(machine.tick(now: self.now.advanced(by: .seconds(29))).isEmpty)
        #expect(machine.tick(now: self.now.advanced(by: .seconds(30))) == [.abort])
        #expect(machine.nextDeadline == nil)
        #expect(machine.start([try Self.topic()], now: self.now).isEmpty)

        machine = try self.loaded([try Self.tuple(Vectors.tokenA, at: 1)])
        #expect(machine.tick(now: self.now.advanced(by: .seconds(30))) == [.abort])

        machine = try self.loaded([try Self.tuple(Vectors.tokenA, at: 1)])
        _ = machine.written(now: self.now)
        machine.outputClosed(now: self.now)
        #expect(machine.tick(now: self.now.advanced(by: .seconds(5))) == [.abort])
        #expect(machine.connectionClosed(isClean: true).isEmpty)
    }

    @Test func theBytesOfAClientAreIgnoredUpToALimit() throws {
        var machine = try self.loaded([try Self.tuple(Vectors.tokenA, at: 1)])
        #expect(machine.receive(byteCount: 64 * 1024).isEmpty)
        #expect(machine.receive(byteCount: 1) == [.abort])
        #expect(machine.receive(byteCount: 1).isEmpty)
    }

    @Test func aGatewayThatGoesAwayEndsTheListEarly() throws {
        let tuples = try (0..<2).map { try Self.tuple($0) }
        var machine = Self.machine(self.now) { $0.page = 2 }
        _ = machine.start([try Self.topic()], now: self.now)
        #expect(machine.shutDown().isEmpty)
        _ = machine.loaded(tuples, now: self.now)
        #expect(machine.written(now: self.now) == Self.end)
        machine.outputClosed(now: self.now)
        #expect(machine.connectionClosed(isClean: true) == [.clear(count: tuples.count)])

        var waiting = FeedbackServerStateMachine(now: self.now)
        #expect(waiting.shutDown() == [.abort])
    }

    private func loaded(_ tuples: [FeedbackTuple]) throws -> FeedbackServerStateMachine {
        var machine = FeedbackServerStateMachine(now: self.now)
        _ = machine.start([try Self.topic()], now: self.now)
        _ = machine.loaded(tuples, now: self.now)
        return machine
    }

    private static func machine(
        _ now: Timestamp,
        configure: (inout FeedbackServerStateMachine.Limits) -> Void
    ) -> FeedbackServerStateMachine {
        var limits = FeedbackServerStateMachine.Limits()
        configure(&limits)
        return FeedbackServerStateMachine(limits: limits, now: now)
    }

    private static func topic(_ name: String = Vectors.bundleID) throws -> Topic { try #require(Topic(name)) }

    private static func tuple(_ token: String, at seconds: UInt32) throws -> FeedbackTuple {
        FeedbackTuple(seconds: seconds, token: try #require(DeviceToken(hex: token)))
    }

    /// A tuple whose token is that number.
    private static func tuple(_ number: Int) throws -> FeedbackTuple {
        let token = [UInt8](repeating: 0, count: 30) + [UInt8(number >> 8), UInt8(number & 255)]
        return FeedbackTuple(seconds: 1, token: try #require(DeviceToken(bytes: token)))
    }
}
