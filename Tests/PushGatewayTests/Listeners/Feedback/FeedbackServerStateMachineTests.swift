import NIOCore
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushGateway

/// Reference 6 and 8.8: what is told, and when it may be cleared.
@Suite struct FeedbackServiceMachineTests {
    private typealias Action = FeedbackServerStateMachine.Action
    private let now = Timestamp(seconds: 1_700_000_000)

    @Test func theVectorIsWritten() throws {
        let entries = [
            try Self.entry(Vectors.tokenA, at: 1_700_000_000), try Self.entry(Vectors.tokenC, at: 1_700_000_500),
        ]
        var machine = FeedbackServerStateMachine(now: self.now)
        #expect(machine.start([try Self.topic()], now: self.now) == [.load(try Self.topic(), after: nil)])
        guard case .write(let buffer) = machine.loaded(entries, now: self.now).first else {
            Issue.record("nothing is written")
            return
        }
        let vector = "6553f1000020\(Vectors.tokenA)6553f2f40036\(Vectors.tokenC)"
        #expect(Hexadecimal.encode(buffer.readableBytesView) == vector)
        #expect(machine.written(now: self.now) == [.finish])
        machine.outputClosed(now: self.now)
        #expect(machine.ended(isOrderly: true) == [.clear(entries)])
        #expect(machine.ended(isOrderly: true).isEmpty)
    }

    @Test func pagesAndTopicsFollowEachOther() throws {
        let (first, second) = (try Self.topic("a"), try Self.topic("b"))
        let entries = try (0..<3).map { try FeedbackStoreTests.entry($0, at: 1) }
        var machine = Self.machine(self.now) { $0.page = 2 }
        #expect(machine.start([first, second], now: self.now) == [.load(first, after: nil)])
        #expect(machine.loaded(Array(entries[..<2]), now: self.now).count == 1)
        #expect(machine.written(now: self.now) == [.load(first, after: entries[1].token)])
        #expect(machine.loaded([entries[2]], now: self.now).count == 1)
        #expect(machine.written(now: self.now) == [.load(second, after: nil)])
        #expect(machine.loaded([], now: self.now) == [.finish])
        machine.outputClosed(now: self.now)
        #expect(machine.ended(isOrderly: true) == [.clear(entries)])
    }

    /// Findings D2: a client that takes what one TLS record brings for whole tuples reads all of them.
    @Test func everyWriteHoldsWholeTuplesAndFitsIntoOneRecord() throws {
        let entries = try (0..<300).map { number in
            FeedbackEntry(
                topic: try Self.topic(),
                token: try #require(
                    DeviceToken(bytes: [UInt8](repeating: UInt8(number & 255), count: 71 + number % 16))
                ),
                time: self.now
            )
        }
        var machine = FeedbackServerStateMachine(now: self.now)
        _ = machine.start([try Self.topic()], now: self.now)
        var actions = machine.loaded(entries, now: self.now)
        var (tuples, writes) = ([FeedbackTuple](), 0)
        while case .write(var record) = actions.first {
            writes += 1
            #expect(record.readableBytes <= 4096)
            while let tuple = try FeedbackTuple.read(from: &record) { tuples.append(tuple) }
            #expect(record.readableBytes == 0, "a tuple is cut")
            actions = machine.written(now: self.now)
        }
        #expect(writes > 5)
        #expect(tuples == entries.map(\.tuple))
        #expect(actions == [.finish])
    }

    @Test func whatIsNotWrittenToItsEndIsNotCleared() throws {
        let entries = try (0..<300).map { try FeedbackStoreTests.entry($0, at: 1) }
        var machine = try self.loaded(entries)
        _ = machine.written(now: self.now)
        #expect(machine.ended(isOrderly: true).isEmpty)
    }

    @Test func oneConnectionGetsSoMuchAndNoMore() throws {
        var machine = Self.machine(self.now) {
            $0.page = 2
            $0.entries = 3
        }
        let entries = try (0..<4).map { try FeedbackStoreTests.entry($0, at: 1) }
        _ = machine.start([try Self.topic()], now: self.now)
        _ = machine.loaded(Array(entries[..<2]), now: self.now)
        _ = machine.written(now: self.now)
        _ = machine.loaded(Array(entries[2...]), now: self.now)
        #expect(machine.written(now: self.now) == [.finish])
        machine.outputClosed(now: self.now)
        #expect(machine.ended(isOrderly: true) == [.clear(Array(entries[..<3]))])
    }

    @Test func aConnectionThatBreaksClearsNothing() throws {
        let entries = [try Self.entry(Vectors.tokenA, at: 1)]
        for isOrderly in [true, false] {
            var machine = try self.loaded(entries)
            #expect(machine.ended(isOrderly: isOrderly).isEmpty, "while it is written")
            machine = try self.loaded(entries)
            _ = machine.written(now: self.now)
            #expect(machine.ended(isOrderly: isOrderly).isEmpty, "before the end was told")
        }
        var machine = try self.loaded(entries)
        _ = machine.written(now: self.now)
        machine.outputClosed(now: self.now)
        #expect(machine.ended(isOrderly: false).isEmpty)
    }

    @Test func whatTakesTooLongIsCutOff() throws {
        var machine = FeedbackServerStateMachine(now: self.now)
        #expect(machine.tick(now: self.now.advanced(by: .seconds(29))).isEmpty)
        #expect(machine.tick(now: self.now.advanced(by: .seconds(30))) == [.abort])
        #expect(machine.nextDeadline == nil)
        #expect(machine.start([try Self.topic()], now: self.now).isEmpty)

        machine = try self.loaded([try Self.entry(Vectors.tokenA, at: 1)])
        #expect(machine.tick(now: self.now.advanced(by: .seconds(30))) == [.abort])

        machine = try self.loaded([try Self.entry(Vectors.tokenA, at: 1)])
        _ = machine.written(now: self.now)
        machine.outputClosed(now: self.now)
        #expect(machine.tick(now: self.now.advanced(by: .seconds(5))) == [.abort])
        #expect(machine.ended(isOrderly: true).isEmpty)
    }

    @Test func aClientThatTalksIsIgnoredUpToALimit() throws {
        var machine = try self.loaded([try Self.entry(Vectors.tokenA, at: 1)])
        #expect(machine.received(64 * 1024).isEmpty)
        #expect(machine.received(1) == [.abort])
        #expect(machine.received(1).isEmpty)
    }

    @Test func aGatewayThatGoesAwayEndsTheListEarly() throws {
        let entries = try (0..<2).map { try FeedbackStoreTests.entry($0, at: 1) }
        var machine = Self.machine(self.now) { $0.page = 2 }
        _ = machine.start([try Self.topic()], now: self.now)
        #expect(machine.shutDown().isEmpty)
        _ = machine.loaded(entries, now: self.now)
        #expect(machine.written(now: self.now) == [.finish])
        machine.outputClosed(now: self.now)
        #expect(machine.ended(isOrderly: true) == [.clear(entries)])

        var waiting = FeedbackServerStateMachine(now: self.now)
        #expect(waiting.shutDown() == [.abort])
    }

    private func loaded(_ entries: [FeedbackEntry]) throws -> FeedbackServerStateMachine {
        var machine = FeedbackServerStateMachine(now: self.now)
        _ = machine.start([try Self.topic()], now: self.now)
        _ = machine.loaded(entries, now: self.now)
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

    private static func entry(_ token: String, at seconds: Int64) throws -> FeedbackEntry {
        FeedbackEntry(
            topic: try self.topic(),
            token: try #require(DeviceToken(hex: token)),
            time: Timestamp(seconds: seconds)
        )
    }
}
