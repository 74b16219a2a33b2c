import NIOCore
import PushTesting
import PushTypes
import PushWire
import Testing

/// Reference 5.3, with the replay cases at the end of 8.7.
@Suite struct BinaryClientStateMachineTests {
    let time = ManualTime()

    @Test func afterAnInvalidTokenTheEarlierAreAcceptedAndTheLaterWrittenAgain() throws {
        let client = try Client(writing: 5)
        let actions = client.receive("080800000003", self.time.now)
        #expect(actions.states == [1: .accepted, 2: .accepted, 3: .failed(.invalidToken)])
        #expect(actions.last == .close(.errorPacket(BinaryErrorResponse(status: .invalidToken, identifier: 3))))
        client.machine.connected()
        #expect(client.write(self.time.now).written == [4, 5], "the same identifiers, in their order")
        #expect(client.settle(self.time) == [4: .accepted, 5: .accepted])
        #expect(client.isSettled)
    }

    @Test func atAShutdownTheIdentifiedNotificationWasAccepted() throws {
        let client = try Client(writing: 5)
        #expect(client.receive("080a00000003", self.time.now).states == [1: .accepted, 2: .accepted, 3: .accepted])
        client.machine.connected()
        #expect(client.write(self.time.now).written == [4, 5])
        #expect(client.machine.failures == 0, "no reason to wait before the next connection")
    }

    @Test func whatIsWrittenAgainGoesBeforeWhatWaits() throws {
        let client = try Client(writing: 3)
        try client.submit(2, self.time.now)
        _ = client.receive("080800000001", self.time.now)
        client.machine.connected()
        #expect(client.write(self.time.now).written == [2, 3, 4, 5])
        #expect(
            client.receive("080800000004", self.time.now).states == [
                2: .accepted, 3: .accepted, 4: .failed(.invalidToken),
            ]
        )
    }

    @Test func silenceCountsAsAcceptanceAndItsTimeBeginsWithTheLastByte() throws {
        let client = try Client(submitting: 2)
        client.machine.connected()
        #expect(client.machine.nextWrite(now: self.time.now).written == [1])
        self.time.advance(by: .seconds(5))
        #expect(client.machine.tick(now: self.time.now).isEmpty, "it may still stand in a buffer")
        client.machine.written(through: 1, now: self.time.now)
        self.time.advance(by: .milliseconds(999))
        #expect(client.machine.tick(now: self.time.now).isEmpty)
        #expect(client.machine.nextDeadline == self.time.now.advanced(by: .milliseconds(1)))
        self.time.advance(by: .milliseconds(1))
        #expect(client.machine.tick(now: self.time.now).states == [1: .accepted])
        #expect(!client.isSettled, "the second waits")
    }

    @Test func aLatePacketStillSavesWhatCameAfterTheRejectedOne() throws {
        let client = try Client(writing: 4)
        #expect(client.settle(self.time).count == 4)
        try client.submit(1, self.time.now)
        _ = client.write(self.time.now)
        let actions = client.receive("080800000002", self.time.now)
        #expect(actions.states.isEmpty, "a final state is final")
        #expect(actions.first == .lateError(count: 3, .invalidToken))
        client.machine.connected()
        #expect(client.write(self.time.now).written == [3, 4, 5], "what the service discarded")
        #expect(client.settle(self.time) == [5: .accepted])
        #expect(client.isSettled)
    }

    @Test func whatLeavesTheMemoryIsAccepted() throws {
        var limits = BinaryClientStateMachine.Limits()
        limits.written = 2
        let client = try Client(writing: 5, limits: limits)
        #expect(client.early == [1: .accepted, 2: .accepted, 3: .accepted])
        #expect(client.receive("080800000005", self.time.now).states == [4: .accepted, 5: .failed(.invalidToken)])
    }

    @Test func theMemoryIsBoundedWhileTheSystemTakesNothing() throws {
        var limits = BinaryClientStateMachine.Limits()
        limits.written = 2
        let client = try Client(submitting: 3, limits: limits)
        client.machine.connected()
        #expect(client.machine.nextWrite(now: self.time.now).written == [1])
        #expect(client.machine.nextWrite(now: self.time.now).written == [2])
        #expect(client.machine.nextWrite(now: self.time.now).isEmpty, "it is not known yet whether the first one left")
        client.machine.written(through: 2, now: self.time.now)
        #expect(client.machine.nextWrite(now: self.time.now).written == [3])
    }

    @Test func anIdentifierThatIsNotRememberedSendsNothingAgain() throws {
        var limits = BinaryClientStateMachine.Limits()
        limits.written = 2
        let client = try Client(writing: 4, limits: limits)
        let packet = BinaryErrorResponse(status: .invalidToken, identifier: 1)
        let state = BinaryClientStateMachine.FinalState.unknown(.unknownIdentifier(packet))
        #expect(client.receive("080800000001", self.time.now).states == [3: state, 4: state])
        client.machine.connected()
        #expect(client.write(self.time.now).isEmpty)
        #expect(client.isSettled)
    }

    @Test(arguments: ["080200000000", "088000000000", "080a00000000"])
    func identifierZeroNeverLoops(packet: String) throws {
        let client = try Client(writing: 3)
        #expect(client.receive(packet, self.time.now).states.count == 3)
        #expect(!client.needsConnection)
        #expect(client.machine.failures == 1)
        client.machine.connected()
        #expect(client.write(self.time.now).isEmpty)
    }

    @Test(arguments: [("", BinaryStatus.missingDeviceToken), ("aa", .invalidTokenSize)])
    func whatWouldBreakTheConnectionIsNeverWritten(token: String, status: BinaryStatus) throws {
        let client = try Client(submitting: 0)
        let bad = BinaryNotification(token: Hexadecimal.decode(token) ?? [], payload: ByteBuffer(string: "{}"))
        let submitted = client.machine.submit(bad, now: self.time.now)
        #expect(submitted == [.finished(identifier: 1, .failed(status))])
        #expect(client.isSettled)
        #expect(!client.needsConnection)
    }

    @Test func aFaultOfTheCertificateEndsAllThatWasDiscarded() throws {
        let client = try Client(writing: 3)
        let rejected = BinaryClientStateMachine.FinalState.notSent(.connectionRejected(.missingTopic))
        #expect(
            client.receive("080300000002", self.time.now).states
                == [1: .accepted, 2: .failed(.missingTopic), 3: rejected]
        )
        #expect(!client.needsConnection)
    }

    @Test func aConnectionThatEndsWithoutAPacketLeavesOutcomesUnknown() throws {
        let client = try Client(writing: 2, command: .simple)
        try client.submit(1, self.time.now)
        let lost = BinaryClientStateMachine.FinalState.unknown(.connectionLost)
        #expect(client.machine.connectionClosed().states == [1: lost, 2: lost])
        client.machine.connected()
        #expect(client.write(self.time.now).written == [3], "what was never written is not unknown")
        #expect(client.machine.connectionClosed().states == [3: lost])
        #expect(client.machine.connectionClosed().isEmpty)
    }

    @Test func commandZeroHasNoIdentifiersToBelieveIn() throws {
        let client = try Client(writing: 2, command: .simple)
        let packet = BinaryErrorResponse(status: .invalidToken, identifier: 1)
        let state = BinaryClientStateMachine.FinalState.unknown(.unknownIdentifier(packet))
        #expect(client.receive("080800000001", self.time.now).states == [1: state, 2: state])
    }

    @Test func aConnectionLostWhileIdleIsNoFailure() throws {
        let client = try Client(writing: 1)
        _ = client.settle(self.time)
        #expect(client.machine.connectionClosed().isEmpty)
        #expect(client.machine.failures == 0)
        client.machine.connected()
        _ = client.machine.connectionClosed()
        #expect(client.machine.failures == 1, "but one that ends before anything was written is")
    }

    @Test func garbageFromTheServiceEndsTheConnection() throws {
        let client = try Client(writing: 1)
        let actions = client.receive("474554", self.time.now)
        #expect(actions == [.finished(identifier: 1, .unknown(.malformedPacket)), .close(.malformedPacket)])
        #expect(client.receive("080800000001", self.time.now).isEmpty)
    }

    @Test func aFailedConnectionKeepsEverythingUntilTheDeadline() throws {
        let client = try Client(writing: 2)
        client.machine.connectionFailed()
        #expect(client.needsConnection)
        self.time.advance(by: .seconds(30))
        #expect(client.machine.tick(now: self.time.now).states == [1: .notSent(.timedOut), 2: .notSent(.timedOut)])
        #expect(client.isSettled)
    }

    @Test func aPeerThatTakesNothingIsLeft() throws {
        let client = try Client(submitting: 1)
        client.machine.connected()
        _ = client.machine.nextWrite(now: self.time.now)
        #expect(client.machine.nextDeadline == self.time.now.advanced(by: .seconds(30)))
        self.time.advance(by: .seconds(30))
        let actions = client.machine.tick(now: self.time.now)
        #expect(actions == [.finished(identifier: 1, .unknown(.connectionLost)), .close(.stalled)])
    }

    @Test func whatWaitsIsBoundedAndCanBeTakenBack() throws {
        var limits = BinaryClientStateMachine.Limits()
        limits.waiting = 2
        let client = try Client(submitting: 2, limits: limits)
        #expect(client.machine.remainingCapacity == 0)
        let third = client.machine.submit(try Client.notification(), now: self.time.now)
        #expect(third == [.finished(identifier: 3, .notSent(.queueFull))])
        #expect(client.machine.withdraw([2, 7]) == [.finished(identifier: 2, .notSent(.withdrawn))])
        #expect(client.machine.remainingCapacity == 1)
    }

    @Test func afterTheLastIdentifierComesOneNotZero() throws {
        let client = try Client(writing: 3, lastIdentifier: .max - 1)
        #expect(client.receive("080800000001", self.time.now).states == [.max: .accepted, 1: .failed(.invalidToken)])
        client.machine.connected()
        #expect(client.write(self.time.now).written == [2])
    }

    @Test func aPacketMayComeInPieces() throws {
        let client = try Client(writing: 1)
        for byte in ["08", "08", "00", "00", "00"] { #expect(client.receive(byte, self.time.now).isEmpty) }
        #expect(client.receive("01", self.time.now).states == [1: .failed(.invalidToken)])
    }

    /// Random events: every notification ends in exactly one final state, and random bytes never crash.
    @Test func everyNotificationEndsExactlyOnce() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var limits = BinaryClientStateMachine.Limits()
            (limits.written, limits.waiting) = (Int.random(in: 1...8), Int.random(in: 1...8))
            var machine = BinaryClientStateMachine(limits: limits)
            var (submitted, states) = (Set<UInt32>(), [UInt32: Int]())
            func note(_ actions: [BinaryClientStateMachine.Action]) {
                for case .finished(let identifier, _) in actions { states[identifier, default: 0] += 1 }
            }
            for _ in 0..<100 {
                switch Int.random(in: 0...9, using: &generator) {
                case 0...3:
                    submitted.insert(machine.nextIdentifier)
                    note(machine.submit(try Client.notification(), now: self.time.now))
                case 4...5: if !machine.isConnected { machine.connected() }
                case 6...7:
                    let actions = machine.nextWrite(now: self.time.now)
                    note(actions)
                    if let last = actions.written.last { machine.written(through: last, now: self.time.now) }
                case 8:
                    let packet = BinaryErrorResponse(
                        status: [.invalidToken, .shutdown, .missingTopic, .noErrors].randomElement() ?? .unknown,
                        identifier: submitted.randomElement() ?? 0
                    )
                    let bytes = Bool.random() ? packet.encoded : ByteBuffer(integer: UInt64.random(in: 0 ... .max))
                    note(machine.receive(bytes, now: self.time.now))
                default:
                    if Bool.random() {
                        note(machine.connectionClosed())
                    } else if machine.isConnected {
                        machine.connectionFailed()
                    }
                    self.time.advance(by: .milliseconds(300))
                    note(machine.tick(now: self.time.now))
                }
            }
            note(machine.connectionClosed())
            self.time.advance(by: .seconds(60))
            note(machine.tick(now: self.time.now))
            let isSettled = machine.isSettled
            #expect(isSettled)
            #expect(Set(states.keys) == submitted)
            #expect(states.values.allSatisfy { $0 == 1 })
        }
    }
}

/// Drives a ``BinaryClientStateMachine`` as a sender does.
private final class Client {
    var machine: BinaryClientStateMachine
    var isSettled: Bool { self.machine.isSettled }
    var needsConnection: Bool { self.machine.needsConnection }
    var early: [UInt32: BinaryClientStateMachine.FinalState] = [:]

    init(
        submitting count: Int,
        command: BinaryCommand = .framed,
        limits: BinaryClientStateMachine.Limits = .init(),
        lastIdentifier: UInt32 = 0
    ) throws {
        self.machine = BinaryClientStateMachine(command: command, limits: limits, lastIdentifier: lastIdentifier)
        try self.submit(count, Timestamp(seconds: 1_700_000_000))
    }

    convenience init(
        writing count: Int,
        command: BinaryCommand = .framed,
        limits: BinaryClientStateMachine.Limits = .init(),
        lastIdentifier: UInt32 = 0
    ) throws {
        try self.init(submitting: count, command: command, limits: limits, lastIdentifier: lastIdentifier)
        self.machine.connected()
        self.early = self.write(Timestamp(seconds: 1_700_000_000)).states
    }

    func submit(_ count: Int, _ now: Timestamp) throws {
        for _ in 0..<count {
            let submitted = self.machine.submit(try Self.notification(), now: now)
            #expect(submitted == [])
        }
    }

    /// Writes all there is, and the system takes it at once.
    func write(_ now: Timestamp) -> [BinaryClientStateMachine.Action] {
        var all: [BinaryClientStateMachine.Action] = []
        while true {
            let actions = self.machine.nextWrite(now: now)
            guard let identifier = actions.written.last else { return all }
            self.machine.written(through: identifier, now: now)
            all += actions
        }
    }

    func receive(_ hex: String, _ now: Timestamp) -> [BinaryClientStateMachine.Action] {
        self.machine.receive(ByteBuffer(bytes: Hexadecimal.decode(hex) ?? []), now: now)
    }

    func settle(_ time: ManualTime) -> [UInt32: BinaryClientStateMachine.FinalState] {
        time.advance(by: .seconds(1))
        return self.machine.tick(now: time.now).states
    }

    static func notification() throws -> BinaryNotification {
        BinaryNotification(
            token: try #require(Hexadecimal.decode(Vectors.tokenA)),
            payload: ByteBuffer(string: Vectors.payload)
        )
    }
}

extension [BinaryClientStateMachine.Action] {
    fileprivate var written: [UInt32] {
        self.compactMap { if case .write(let notification) = $0 { notification.identifier } else { nil } }
    }

    fileprivate var states: [UInt32: BinaryClientStateMachine.FinalState] {
        var states: [UInt32: BinaryClientStateMachine.FinalState] = [:]
        for case .finished(let identifier, let state) in self { states[identifier] = state }
        return states
    }
}
