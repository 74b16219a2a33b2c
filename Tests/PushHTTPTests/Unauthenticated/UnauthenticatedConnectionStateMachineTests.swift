import NIOCore
import PushHTTP
import PushTesting
import Testing

/// The budget of unauthenticated connections.
@Suite struct UnauthenticatedConnectionStateMachineTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private static func machine(
        bytes: Int = 1000,
        connections: Int = 4
    ) -> UnauthenticatedConnectionStateMachine {
        var limits = UnauthenticatedConnectionStateMachine.Limits()
        limits.bytes = bytes
        limits.connections = connections
        return UnauthenticatedConnectionStateMachine(limits: limits)
    }

    @Test func theLargestIsClosedWhenTooMuchIsHeld() throws {
        var machine = Self.machine()
        let ids = try (0..<3).map { _ in try #require(machine.open(now: Self.start).id) }
        #expect(machine.hold(ids[0], bytes: 300) == nil)
        #expect(machine.hold(ids[1], bytes: 500) == nil)
        #expect(machine.hold(ids[2], bytes: 100) == nil)
        #expect(machine.hold(ids[2], bytes: 201) == ids[1])
        #expect(machine.bytes == 501)
        #expect(machine.count == 2)
        // It is closed, so further reports of it are ignored.
        #expect(machine.hold(ids[1], bytes: 5000) == nil)
        #expect(machine.bytes == 501)
        #expect(machine.hold(ids[0], bytes: 1001) == ids[0])
    }

    @Test func anAuthenticatedConnectionDoesNotCount() throws {
        var machine = Self.machine()
        let authenticated = try #require(machine.open(now: Self.start).id)
        #expect(machine.hold(authenticated, bytes: 900) == nil)
        machine.close(authenticated)
        machine.close(authenticated)
        let other = try #require(machine.open(now: Self.start).id)
        #expect(machine.hold(other, bytes: 1000) == nil)
        #expect(machine.bytes == 1000)
        #expect(machine.tick(now: Self.start + .seconds(60)) == [other])
        #expect(machine.bytes == 0)
    }

    @Test func aFullTableRejectsTheNewestUntilTheOldestHasItsMinimumAge() throws {
        var machine = Self.machine()
        let ids = try (0..<4).map { try #require(machine.open(now: Self.start + .seconds($0)).id) }
        for id in ids { machine.firstMessageReceived(id) }
        // The first is the oldest, and 1.999 s old.
        #expect(machine.open(now: Self.start + .milliseconds(1999)).id == nil)
        let next = machine.open(now: Self.start + .seconds(4))
        #expect(next.id != nil)
        #expect(next.closes == ids[0])
        #expect(machine.count == 4)
        machine.close(ids[1])
        #expect(machine.open(now: Self.start + .seconds(4)).closes == nil)
    }

    @Test func silentConnectionsMakeRoomFirstAndSooner() throws {
        var machine = Self.machine()
        let ids = try (0..<4).map { _ in try #require(machine.open(now: Self.start).id) }
        machine.firstMessageReceived(ids[0])
        machine.firstMessageReceived(ids[2])
        #expect(machine.open(now: Self.start + .milliseconds(499)).id == nil)
        #expect(machine.open(now: Self.start + .milliseconds(500)).closes == ids[1])
        #expect(machine.open(now: Self.start + .milliseconds(500)).closes == ids[3])
        #expect(machine.open(now: Self.start + .milliseconds(500)).id == nil)
    }

    @Test func connectionsHaveADeadline() throws {
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

    @Test func theSumIsRightAfterAnySequence() {
        var generator = SeededGenerator(seed: 24)
        var machine = Self.machine(bytes: 5000, connections: 50)
        var held: [UnauthenticatedConnectionStateMachine.ID: Int] = [:]
        var now = Self.start
        for _ in 0..<20_000 {
            now = now + .milliseconds(Int64.random(in: 0...100, using: &generator))
            switch Int.random(in: 0..<6, using: &generator) {
            case 0, 1:
                let (id, closes) = machine.open(now: now)
                if let closes { held[closes] = nil }
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
}
