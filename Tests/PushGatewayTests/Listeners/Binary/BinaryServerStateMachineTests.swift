import NIOCore
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushGateway

/// Reference 5 and 8.5–8.7, bytes in and actions out.
@Suite struct BinaryServiceMachineTests {
    @Test(arguments: BinaryVector.good)
    func aNotificationIsTakenWhereverItsBytesAreCut(vector: BinaryVector) throws {
        for cut in 0...vector.bytes.count {
            var service = BinaryPeer()
            service.receive(vector.bytes.prefix(cut))
            service.receive(vector.bytes.dropFirst(cut))
            #expect(service.pushed.map(\.token) == [try #require(Hexadecimal.decode(Vectors.tokenA))])
            #expect(service.pushed.map { String(buffer: $0.payload) } == [Vectors.payload])
            #expect(service.pushed.map(\.identifier) == [vector.identifier])
            #expect(!service.isFinished)
        }
    }

    @Test func manyNotificationsInOneReadAreTakenInTheirOrder() {
        var service = BinaryPeer()
        service.receive(BinaryVector.good.flatMap(\.bytes))
        #expect(service.pushed.map(\.identifier) == BinaryVector.good.map(\.identifier))
    }

    @Test(arguments: BinaryVector.bad)
    func aBadNotificationIsAnsweredWhereverItsBytesAreCut(vector: BinaryVector) {
        for cut in 0...vector.bytes.count {
            var service = BinaryPeer()
            service.receive(vector.bytes.prefix(cut))
            service.receive(vector.bytes.dropFirst(cut))
            service.receive(BinaryVector.good.flatMap(\.bytes))
            #expect(service.pushed.isEmpty, "what comes after it is discarded")
            #expect(service.finishes == [vector.answer])
            #expect(service.faults.map(\.isAnswered) == [true], "the operator is told, too")
        }
    }

    /// Findings D4: what two clients of 2012 send by command 1.
    @Test(arguments: [0, 1] as [UInt8], [256, 257, 2048, 2049])
    func longPayloadsByCommandsZeroAndOneAreForTheLenient(command: UInt8, length: Int) throws {
        let token = try #require(Hexadecimal.decode(Vectors.tokenA))
        let head: [UInt8] = command == 0 ? [0] : [1, 0, 0, 0, 7, 0, 0, 0, 0]
        let bytes =
            head + [0, 32] + token + [UInt8(length >> 8), UInt8(length & 255)]
            + [UInt8](repeating: UInt8(ascii: "x"), count: length)
        for isLenient in [false, true] {
            var service = BinaryPeer { $0.isLenient = isLenient }
            service.receive(bytes)
            guard length > (isLenient ? 2048 : 256) else {
                #expect(service.pushed.map(\.payload.readableBytes) == [length])
                continue
            }
            #expect(service.pushed.isEmpty)
            #expect(service.finishes == [command == 0 ? nil : "080700000007"])
            let fault = BinaryServerStateMachine.Fault(
                status: .invalidPayloadSize,
                command: command,
                isAnswered: command != 0
            )
            #expect(service.faults == [fault])
        }
    }

    @Test func aClientThatClosesInTheMiddleOfANotificationIsReported() {
        var service = BinaryPeer()
        service.receive(BinaryVector.simple.bytes.dropLast())
        service.closeInput()
        #expect(service.faults == [.init(status: .protocolError, command: 0, isAnswered: false)])
        var silent = BinaryPeer()
        silent.receive(BinaryVector.simple.bytes)
        silent.closeInput()
        #expect(silent.faults.isEmpty)
    }

    /// Reference 5.3.3.
    @Test(arguments: ["000004deadbeef0002", "00000000", "000065", "0000200000"])
    func commandZeroHasNoIdentifierAndGetsNoPacket(bytes: String) {
        var service = BinaryPeer()
        service.receive(hex: bytes + String(repeating: "00", count: 32))
        #expect(service.finishes == [nil])
        #expect(service.pushed.isEmpty)
    }

    /// The replay case of reference 8.7.
    @Test func whatStandsBeforeABadNotificationIsAcceptedAndWhatComesAfterIsDiscarded() {
        var service = BinaryPeer(refusing: [3: .invalidToken])
        service.receive(BinaryPeer.notifications(1...5))
        #expect(service.pushed.map(\.identifier) == [1, 2, 3])
        #expect(service.finishes.isEmpty, "the packet says that 1 and 2 are accepted, which is not known yet")
        service.accept(1)
        service.accept(0)
        #expect(service.finishes == ["080800000003"])
    }

    @Test func whatTheCoreCouldNotKeepIsAProcessingError() {
        var service = BinaryPeer()
        service.receive(BinaryPeer.notifications(1...5))
        for ticket in [4, 3, 1] { service.accept(UInt32(ticket)) }
        service.fail(2)
        #expect(service.finishes.isEmpty)
        service.accept(0)
        #expect(service.finishes == ["080100000003"])
        service.receive(BinaryPeer.notifications(6...7))
        #expect(service.pushed.count == 5)
    }

    @Test func theFirstFailureIsNamed() {
        var service = BinaryPeer(refusing: [4: .invalidToken])
        service.receive(BinaryPeer.notifications(1...5))
        service.fail(2)
        service.fail(1)
        service.accept(2)
        service.accept(0)
        #expect(service.finishes == ["080100000002"])
    }

    @Test func aSettlementThatNobodyWaitsForChangesNothing() {
        var service = BinaryPeer()
        service.fail(0)
        service.accept(7)
        service.receive(BinaryPeer.notifications(1...1))
        service.accept(0)
        service.fail(0)
        #expect(service.finishes.isEmpty)
    }

    @Test func tooMuchInFlightStopsReadingUntilSomethingIsSettled() {
        var service = BinaryPeer { $0.inFlight = 2 }
        service.receive(BinaryPeer.notifications(1...5))
        #expect(service.pushed.map(\.identifier) == [1, 2])
        #expect(!service.machine.wantsBytes)
        service.accept(1)
        #expect(!service.machine.wantsBytes)
        service.accept(0)
        #expect(service.pushed.map(\.identifier) == [1, 2, 3, 4])
        service.accept(2)
        service.accept(3)
        #expect(service.pushed.count == 5)
        #expect(service.machine.wantsBytes)
    }

    @Test func aClientThatClosesHasWhatItSentTaken() {
        var service = BinaryPeer { $0.inFlight = 1 }
        service.receive(BinaryPeer.notifications(1...3))
        service.machine.inputEnded()
        service.accept(0)
        service.accept(1)
        #expect(service.pushed.map(\.identifier) == [1, 2, 3])
    }

    @Test func aClientThatClosesItsHalfLearnsWhatFailed() {
        var service = BinaryPeer()
        service.receive(BinaryPeer.notifications(1...3))
        service.closeInput()
        service.fail(1)
        #expect(service.finishes.isEmpty, "the first one is not settled")
        service.accept(0)
        #expect(service.finishes == ["080100000002"])
        #expect(service.isClosed, "nothing more comes that could be read")
    }

    @Test func aClientThatClosesItsHalfIsLetGoWhenAllIsSettled() {
        var service = BinaryPeer()
        service.receive(BinaryPeer.notifications(1...1))
        service.closeInput()
        #expect(!service.isFinished)
        service.accept(0)
        #expect(service.finishes == [nil])
        #expect(service.isClosed)
    }

    @Test func aClientCannotLetMoreWaitThanTheLimit() {
        var service = BinaryPeer {
            $0.inFlight = 1
            $0.waiting = 100
        }
        service.receive(BinaryPeer.notifications(1...2))
        service.receive(BinaryPeer.notifications(3...3))
        #expect(service.machine.wantsBytes == false)
        service.accept(0)
        #expect(service.finishes == [nil])
        #expect(service.pushed.count == 1)
    }
}

/// Going away, and time (reference 5.3.2 and 5.3.8).
@Suite struct BinaryServiceMachineEndTests {
    @Test func shutdownNamesTheLastAccepted() {
        var service = BinaryPeer()
        service.receive(BinaryPeer.notifications(1...3))
        service.shutDown()
        service.receive(BinaryPeer.notifications(4...4))
        service.accept(0)
        service.accept(1)
        #expect(service.finishes.isEmpty)
        service.accept(2)
        #expect(service.finishes == ["080a00000003"])
        #expect(service.pushed.count == 3)
    }

    @Test func shutdownDoesNotWaitForEver() {
        var service = BinaryPeer()
        service.receive(BinaryPeer.notifications(1...3))
        service.accept(0)
        service.accept(2)
        service.shutDown()
        service.advance(by: .seconds(5))
        #expect(service.finishes == ["080a00000001"])
    }

    @Test func aRefusalThatWaitsDoesNotDelayAShutdown() {
        var service = BinaryPeer(refusing: [2: .invalidToken])
        service.receive(BinaryPeer.notifications(1...2))
        service.shutDown()
        service.advance(by: .seconds(5))
        #expect(service.finishes == ["080100000001"])
    }

    @Test(arguments: [[], BinaryVector.simple.bytes, BinaryVector.unnamed.bytes])
    func whereNothingCanBeNamedShutdownSaysNothing(bytes: [UInt8]) {
        var service = BinaryPeer()
        service.receive(bytes)
        service.accept(0)
        service.shutDown()
        #expect(service.finishes == [nil])
    }

    @Test func afterTheLastWordTheConnectionIsReadForAWhileAndClosed() {
        var service = BinaryPeer()
        service.receive(hex: "09")
        #expect(service.machine.wantsBytes)
        service.receive(BinaryPeer.notifications(1...3))
        service.advance(by: .milliseconds(1999))
        #expect(!service.isClosed)
        service.advance(by: .milliseconds(1))
        #expect(service.isClosed)
        #expect(service.machine.nextDeadline == nil)
    }

    @Test func aConnectionWithoutAByteEnds() {
        var service = BinaryPeer()
        service.advance(by: .seconds(299))
        #expect(!service.isFinished)
        service.advance(by: .seconds(1))
        #expect(service.finishes == [nil])
    }

    @Test func aNotificationThatTricklesInEndsTheConnection() {
        var service = BinaryPeer()
        for byte in BinaryVector.enhanced.bytes.prefix(29) {
            service.receive([byte])
            service.advance(by: .seconds(1))
        }
        #expect(!service.isFinished)
        service.advance(by: .seconds(1))
        #expect(service.finishes == ["088000000001"], "its identifier has come")
        #expect(service.faults == [.init(status: .protocolError, command: 1, isAnswered: true)])
    }

    @Test func everyNotificationHasItsOwnTime() {
        var service = BinaryPeer()
        let bytes = BinaryPeer.notifications(1...10)
        var rest = bytes[...]
        while !rest.isEmpty {
            service.receive(rest.prefix(30))
            rest = rest.dropFirst(30)
            service.advance(by: .seconds(9))
            service.acceptAll()
        }
        #expect(service.pushed.count == 10)
        #expect(!service.isFinished)
    }

    @Test func anIdleConnectionLivesForADay() {
        var service = BinaryPeer()
        service.receive(BinaryPeer.notifications(1...1))
        service.accept(0)
        service.advance(by: .seconds(24 * 3600 - 1))
        #expect(!service.isFinished)
        service.advance(by: .seconds(1))
        #expect(service.finishes == [nil])
    }

    @Test func aCoreThatNeverAnswersIsAProcessingError() {
        var service = BinaryPeer { $0.inFlight = 2 }
        service.receive(BinaryPeer.notifications(1...3))
        service.accept(0)
        service.advance(by: .seconds(30))
        #expect(service.finishes == ["080100000002"])
    }

    /// Whatever comes, there is one end at most, and nothing is taken after it.
    @Test(arguments: 0..<200)
    func garbageComesToOneEnd(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var service = BinaryPeer { $0.inFlight = 4 }
        for _ in 0..<30 {
            var bytes = BinaryVector.all.randomElement(using: &generator)?.bytes ?? []
            if Bool.random(using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[index] = UInt8.random(in: 0...255, using: &generator)
            }
            service.receive(bytes.prefix(Int.random(in: 1...bytes.count, using: &generator)))
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: service.fail(UInt32.random(in: 0..<8, using: &generator))
            case 1: service.accept(UInt32.random(in: 0..<8, using: &generator))
            case 2: service.advance(by: .seconds(Int.random(in: 0..<100, using: &generator)))
            case 3: service.shutDown()
            default: service.acceptAll()
            }
        }
        service.acceptAll()
        service.advance(by: .seconds(24 * 3600))
        service.acceptAll()
        service.advance(by: .seconds(2))
        #expect(service.finishes.count == 1)
        #expect(service.isClosed)
        #expect(!service.didPushAfterTheEnd)
    }
}
