import NIOCore
import PushTesting
import PushTypes
import PushWire
import Testing

/// Reference 5 and 8.5–8.7, bytes in and actions out.
@Suite struct BinaryServerStateMachineTests {
    @Test(arguments: BinaryVector.good)
    func aNotificationIsTakenWhereverItsBytesAreCut(vector: BinaryVector) throws {
        for cut in 0...vector.bytes.count {
            let server = BinaryPeer()
            server.receive(vector.bytes.prefix(cut))
            server.receive(vector.bytes.dropFirst(cut))
            #expect(server.submitted.map(\.token) == [try #require(Hexadecimal.decode(Vectors.tokenA))])
            #expect(server.submitted.map { String(buffer: $0.payload) } == [Vectors.payload])
            #expect(server.submitted.map(\.identifier) == [vector.identifier])
            #expect(!server.isFinished)
        }
    }

    @Test func manyNotificationsInOneReadAreTakenInTheirOrder() {
        let server = BinaryPeer()
        server.receive(BinaryVector.good.flatMap(\.bytes))
        #expect(server.submitted.map(\.identifier) == BinaryVector.good.map(\.identifier))
    }

    @Test(arguments: BinaryVector.bad)
    func aBadNotificationGetsItsPacketWhereverItsBytesAreCut(vector: BinaryVector) {
        for cut in 0...vector.bytes.count {
            let server = BinaryPeer()
            server.receive(vector.bytes.prefix(cut))
            server.receive(vector.bytes.dropFirst(cut))
            server.receive(BinaryVector.good.flatMap(\.bytes))
            #expect(server.submitted.isEmpty, "what comes after it is discarded")
            #expect(server.finishes == [vector.response])
            #expect(server.reports.map(\.isAnswered) == [true], "it is reported, too")
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
            let server = BinaryPeer { $0.isLenient = isLenient }
            server.receive(bytes)
            guard length > (isLenient ? 2048 : 256) else {
                #expect(server.submitted.map(\.payload.readableBytes) == [length])
                continue
            }
            #expect(server.submitted.isEmpty)
            #expect(server.finishes == [command == 0 ? nil : "080700000007"])
            let fault = BinaryServerStateMachine.MalformedNotification(
                status: .invalidPayloadSize,
                command: command,
                isAnswered: command != 0
            )
            #expect(server.reports == [fault])
        }
    }

    @Test func aClientThatClosesInTheMiddleOfANotificationIsReported() {
        let server = BinaryPeer()
        server.receive(BinaryVector.simple.bytes.dropLast())
        server.closeInput()
        #expect(server.reports == [.init(status: .protocolError, command: 0, isAnswered: false)])
        let silent = BinaryPeer()
        silent.receive(BinaryVector.simple.bytes)
        silent.closeInput()
        #expect(silent.reports.isEmpty)
    }

    /// Reference 5.3.3.
    @Test(arguments: ["000004deadbeef0002", "00000000", "000065", "0000200000"])
    func commandZeroHasNoIdentifierAndGetsNoPacket(bytes: String) {
        let server = BinaryPeer()
        server.receive(hex: bytes + String(repeating: "00", count: 32))
        #expect(server.finishes == [nil])
        #expect(server.submitted.isEmpty)
    }

    /// The replay case of APNs reference 8.7.
    @Test func whatStandsBeforeABadNotificationIsAcceptedAndWhatComesAfterIsDiscarded() {
        let server = BinaryPeer(rejecting: [3: .invalidToken])
        server.receive(BinaryVector.notifications(1...5))
        #expect(server.submitted.map(\.identifier) == [1, 2, 3])
        #expect(server.finishes.isEmpty, "the packet means that 1 and 2 are accepted, which is not known yet")
        server.accept(1)
        server.accept(0)
        #expect(server.finishes == ["080800000003"])
    }

    @Test func whatTheGatewayCouldNotKeepIsAProcessingError() {
        let server = BinaryPeer()
        server.receive(BinaryVector.notifications(1...5))
        for ticket in [4, 3, 1] { server.accept(UInt32(ticket)) }
        server.fail(2)
        #expect(server.finishes.isEmpty)
        server.accept(0)
        #expect(server.finishes == ["080100000003"])
        server.receive(BinaryVector.notifications(6...7))
        #expect(server.submitted.count == 5)
    }

    @Test func theFirstFailureIsNamed() {
        let server = BinaryPeer(rejecting: [4: .invalidToken])
        server.receive(BinaryVector.notifications(1...5))
        server.fail(2)
        server.fail(1)
        server.accept(2)
        server.accept(0)
        #expect(server.finishes == ["080100000002"])
    }

    @Test func aSettlementOfNoNotificationInFlightChangesNothing() {
        let server = BinaryPeer()
        server.fail(0)
        server.accept(7)
        server.receive(BinaryVector.notifications(1...1))
        server.accept(0)
        server.fail(0)
        #expect(server.finishes.isEmpty)
    }

    @Test func tooMuchInFlightStopsReadingUntilSomethingIsSettled() {
        let server = BinaryPeer { $0.inFlight = 2 }
        server.receive(BinaryVector.notifications(1...5))
        #expect(server.submitted.map(\.identifier) == [1, 2])
        #expect(!server.wantsBytes)
        server.accept(1)
        #expect(!server.wantsBytes)
        server.accept(0)
        #expect(server.submitted.map(\.identifier) == [1, 2, 3, 4])
        server.accept(2)
        server.accept(3)
        #expect(server.submitted.count == 5)
        #expect(server.wantsBytes)
    }

    @Test func aClientThatClosesHasWhatItSentTaken() {
        let server = BinaryPeer { $0.inFlight = 1 }
        server.receive(BinaryVector.notifications(1...3))
        server.closeInput()
        server.accept(0)
        server.accept(1)
        #expect(server.submitted.map(\.identifier) == [1, 2, 3])
    }

    @Test func aClientThatClosesItsHalfLearnsWhatFailed() {
        let server = BinaryPeer()
        server.receive(BinaryVector.notifications(1...3))
        server.closeInput()
        server.fail(1)
        #expect(server.finishes.isEmpty, "the first one is not settled")
        server.accept(0)
        #expect(server.finishes == ["080100000002"])
        #expect(server.isClosed, "nothing more comes that could be read")
    }

    @Test func aClientThatClosesItsHalfIsLetGoWhenAllIsSettled() {
        let server = BinaryPeer()
        server.receive(BinaryVector.notifications(1...1))
        server.closeInput()
        #expect(!server.isFinished)
        server.accept(0)
        #expect(server.finishes == [nil])
        #expect(server.isClosed)
    }

    @Test func aClientCannotLetMoreWaitThanTheLimit() {
        let server = BinaryPeer {
            $0.inFlight = 1
            $0.waiting = 100
        }
        server.receive(BinaryVector.notifications(1...2))
        server.receive(BinaryVector.notifications(3...3))
        #expect(server.wantsBytes == false)
        server.accept(0)
        #expect(server.finishes == [nil])
        #expect(server.submitted.count == 1)
    }
}

/// Going away, and time (APNs reference 5.3.2 and 5.3.8).
@Suite struct BinaryServerStateMachineEndTests {
    @Test func shutdownNamesTheLastAccepted() {
        let server = BinaryPeer()
        server.receive(BinaryVector.notifications(1...3))
        server.shutDown()
        server.receive(BinaryVector.notifications(4...4))
        server.accept(0)
        server.accept(1)
        #expect(server.finishes.isEmpty)
        server.accept(2)
        #expect(server.finishes == ["080a00000003"])
        #expect(server.submitted.count == 3)
    }

    @Test func shutdownDoesNotWaitForever() {
        let server = BinaryPeer()
        server.receive(BinaryVector.notifications(1...3))
        server.accept(0)
        server.accept(2)
        server.shutDown()
        server.advance(by: .seconds(5))
        #expect(server.finishes == ["080a00000001"])
    }

    @Test func aRejectionThatWaitsDoesNotDelayAShutdown() {
        let server = BinaryPeer(rejecting: [2: .invalidToken])
        server.receive(BinaryVector.notifications(1...2))
        server.shutDown()
        server.advance(by: .seconds(5))
        #expect(server.finishes == ["080100000001"])
    }

    @Test(arguments: [[], BinaryVector.simple.bytes, BinaryVector.unnamed.bytes])
    func withoutAnIdentifierAShutdownSendsNoPacket(bytes: [UInt8]) {
        let server = BinaryPeer()
        server.receive(bytes)
        server.accept(0)
        server.shutDown()
        #expect(server.finishes == [nil])
    }

    @Test func afterTheLastPacketTheConnectionIsDrainedAndClosed() {
        let server = BinaryPeer()
        server.receive(hex: "09")
        #expect(server.wantsBytes)
        server.receive(BinaryVector.notifications(1...3))
        server.advance(by: .milliseconds(1999))
        #expect(!server.isClosed)
        server.advance(by: .milliseconds(1))
        #expect(server.isClosed)
        #expect(server.nextDeadline == nil)
    }

    @Test func aConnectionWithoutAByteEnds() {
        let server = BinaryPeer()
        server.advance(by: .seconds(299))
        #expect(!server.isFinished)
        server.advance(by: .seconds(1))
        #expect(server.finishes == [nil])
    }

    @Test func aNotificationThatTricklesInEndsTheConnection() {
        let server = BinaryPeer()
        for byte in BinaryVector.enhanced.bytes.prefix(29) {
            server.receive([byte])
            server.advance(by: .seconds(1))
        }
        #expect(!server.isFinished)
        server.advance(by: .seconds(1))
        #expect(server.finishes == ["088000000001"], "its identifier has come")
        #expect(server.reports == [.init(status: .protocolError, command: 1, isAnswered: true)])
    }

    @Test func everyNotificationHasItsOwnTime() {
        let server = BinaryPeer()
        let bytes = BinaryVector.notifications(1...10)
        var rest = bytes[...]
        while !rest.isEmpty {
            server.receive(rest.prefix(30))
            rest = rest.dropFirst(30)
            server.advance(by: .seconds(9))
            server.acceptAll()
        }
        #expect(server.submitted.count == 10)
        #expect(!server.isFinished)
    }

    @Test func anIdleConnectionLivesForADay() {
        let server = BinaryPeer()
        server.receive(BinaryVector.notifications(1...1))
        server.accept(0)
        server.advance(by: .seconds(24 * 3600 - 1))
        #expect(!server.isFinished)
        server.advance(by: .seconds(1))
        #expect(server.finishes == [nil])
    }

    @Test func aNotificationThatIsNeverSettledIsAProcessingError() {
        let server = BinaryPeer { $0.inFlight = 2 }
        server.receive(BinaryVector.notifications(1...3))
        server.accept(0)
        server.advance(by: .seconds(30))
        #expect(server.finishes == ["080100000002"])
    }

    /// For any input there is at most one end, and nothing is taken after it.
    @Test(arguments: 0..<200)
    func garbageComesToOneEnd(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let server = BinaryPeer { $0.inFlight = 4 }
        for _ in 0..<30 {
            var bytes = BinaryVector.all.randomElement(using: &generator)?.bytes ?? []
            if Bool.random(using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[index] = UInt8.random(in: 0...255, using: &generator)
            }
            server.receive(bytes.prefix(Int.random(in: 1...bytes.count, using: &generator)))
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: server.fail(UInt32.random(in: 0..<8, using: &generator))
            case 1: server.accept(UInt32.random(in: 0..<8, using: &generator))
            case 2: server.advance(by: .seconds(Int.random(in: 0..<100, using: &generator)))
            case 3: server.shutDown()
            default: server.acceptAll()
            }
        }
        server.acceptAll()
        server.advance(by: .seconds(24 * 3600))
        server.acceptAll()
        server.advance(by: .seconds(2))
        #expect(server.finishes.count == 1)
        #expect(server.isClosed)
        #expect(!server.submitsAfterEnd)
    }
}
