import NIOCore
import PushHTTP
import PushTesting
import Testing

/// The account of connections that have proven nothing.
@Suite struct UnprovenMachineTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private static func machine(
        bytes: Int = 1000,
        connections: Int = 4
    ) -> UnauthenticatedStateMachine {
        var limits = UnauthenticatedStateMachine.Limits()
        limits.bytes = bytes
        limits.connections = connections
        return UnauthenticatedStateMachine(limits: limits)
    }

    @Test func theLargestEndsWhenTooMuchIsHeld() throws {
        var machine = Self.machine()
        let ids = try (0..<3).map { _ in try #require(machine.open(now: Self.start).id) }
        #expect(machine.hold(ids[0], bytes: 300) == nil)
        #expect(machine.hold(ids[1], bytes: 500) == nil)
        #expect(machine.hold(ids[2], bytes: 100) == nil)
        #expect(machine.hold(ids[2], bytes: 201) == ids[1])
        #expect(machine.bytes == 501)
        #expect(machine.count == 2)
        // It is gone: what it still says means nothing.
        #expect(machine.hold(ids[1], bytes: 5000) == nil)
        #expect(machine.bytes == 501)
        #expect(machine.hold(ids[0], bytes: 1001) == ids[0])
    }

    @Test func whoHasProvenItselfCountsNoMore() throws {
        var machine = Self.machine()
        let proven = try #require(machine.open(now: Self.start).id)
        #expect(machine.hold(proven, bytes: 900) == nil)
        machine.close(proven)
        machine.close(proven)
        let other = try #require(machine.open(now: Self.start).id)
        #expect(machine.hold(other, bytes: 1000) == nil)
        #expect(machine.bytes == 1000)
        #expect(machine.tick(now: Self.start + .seconds(60)) == [other])
        #expect(machine.bytes == 0)
    }

    @Test func aFullTableRefusesTheNewestUntilTheOldestHasHadItsTime() throws {
        var machine = Self.machine()
        let ids = try (0..<4).map { try #require(machine.open(now: Self.start + .seconds($0)).id) }
        for id in ids { machine.heard(id) }
        // The first is the oldest, and 1.999 s old.
        #expect(machine.open(now: Self.start + .milliseconds(1999)).id == nil)
        let next = machine.open(now: Self.start + .seconds(4))
        #expect(next.id != nil)
        #expect(next.ends == ids[0])
        #expect(machine.count == 4)
        machine.close(ids[1])
        #expect(machine.open(now: Self.start + .seconds(4)).ends == nil)
    }

    @Test func theSilentMakeRoomFirstAndSooner() throws {
        var machine = Self.machine()
        let ids = try (0..<4).map { _ in try #require(machine.open(now: Self.start).id) }
        machine.heard(ids[0])
        machine.heard(ids[2])
        #expect(machine.open(now: Self.start + .milliseconds(499)).id == nil)
        #expect(machine.open(now: Self.start + .milliseconds(500)).ends == ids[1])
        #expect(machine.open(now: Self.start + .milliseconds(500)).ends == ids[3])
        #expect(machine.open(now: Self.start + .milliseconds(500)).id == nil)
    }

    @Test func theTimeForAProofEnds() throws {
        var machine = Self.machine()
        #expect(machine.nextDeadline() == nil)
        let first = try #require(machine.open(now: Self.start).id)
        let second = try #require(machine.open(now: Self.start + .seconds(5)).id)
        #expect(machine.nextDeadline() == Self.start + .seconds(60))
        #expect(machine.tick(now: Self.start + .seconds(59)).isEmpty)
        #expect(machine.tick(now: Self.start + .seconds(60)) == [first])
        #expect(machine.nextDeadline() == Self.start + .seconds(65))
        #expect(machine.tick(now: Self.start + .seconds(100)) == [second])
        #expect(machine.nextDeadline() == nil)
    }

    @Test func theSumIsRightWhateverHappens() {
        var generator = SeededGenerator(seed: 24)
        var machine = Self.machine(bytes: 5000, connections: 50)
        var held: [UnauthenticatedStateMachine.ID: Int] = [:]
        var now = Self.start
        for _ in 0..<20_000 {
            now = now + .milliseconds(Int64.random(in: 0...100, using: &generator))
            switch Int.random(in: 0..<6, using: &generator) {
            case 0, 1:
                let (id, ends) = machine.open(now: now)
                if let ends { held[ends] = nil }
                if let id { held[id] = 0 }
            case 2:
                if let id = held.keys.randomElement(using: &generator) {
                    machine.close(id)
                    held[id] = nil
                }
            case 3: for id in machine.tick(now: now) { held[id] = nil }
            default:
                guard let id = held.keys.randomElement(using: &generator) else { continue }
                let bytes = Int.random(in: 0...1000, using: &generator)
                held[id] = bytes
                if let ends = machine.hold(id, bytes: bytes) { held[ends] = nil }
            }
            #expect(machine.count == held.count && machine.count <= 50)
            #expect(machine.bytes == held.values.reduce(0, +) && machine.bytes <= 5000)
        }
    }

    // MARK: The log

    @Test func linesOfOneKindAreCountedAfterTheFirst() {
        var lines = LogRateLimiter<String>(perMinute: 2)
        var now = Self.start
        #expect((0..<5).map { _ in lines.note("a", now: now) } == [0, 0, nil, nil, nil])
        #expect(lines.note("b", now: now) == 0)
        #expect(lines.takeOmitted(now: now).isEmpty)
        now = now + .minutes(1)
        #expect(lines.note("a", now: now) == 3)
        #expect((0..<3).map { _ in lines.note("a", now: now) } == [0, nil, nil])
        now = now + .minutes(1)
        let omitted = lines.takeOmitted(now: now)
        #expect(omitted.map(\.key) == ["a"] && omitted.map(\.count) == [2])
        #expect(lines.note("a", now: now) == 0)
    }

    @Test func thereAreNotEndlesslyManyKinds() {
        var lines = LogRateLimiter<Int>(perMinute: 1)
        #expect((0..<1000).count { lines.note($0, now: Self.start) != nil } == 256)
    }
}
