import NIOCore
import PushTesting
import PushTypes
import Testing

@testable import PushWire

/// GOAWAY in order and by surprise (RFC 9113 section 6.8, APNs reference 1.3).
@Suite struct ServerEndingTests {
    @Test func drainingNotifiesThenRefusesThenWaitsForTheResponses() throws {
        let harness = ServerHarness()
        harness.request(1)
        harness.stateMachine.drain(now: harness.now)
        let notice = harness.frames()
        #expect(notice.map(\.type) == [.goAway, .ping])
        #expect(notice.first?.words == [0x7fff_ffff, 0])
        // Under way when the notice came.
        harness.request(3)
        #expect(harness.requests.count == 2)
        harness.receive([0, 0, 8, 6, 1, 0, 0, 0, 0] + notice[1].content)
        #expect(harness.frames().map(\.words) == [[3, 0]])
        harness.request(5)
        #expect(harness.requests.count == 2)
        harness.respond(1)
        #expect(!harness.hasFinished)
        harness.respond(3)
        #expect(harness.hasFinished)
        #expect(harness.frames().map(\.type) == [.headers, .headers])
        #expect(harness.ending?.code == .noError)
    }

    @Test func theLastNoticeIsTheVector() throws {
        let harness = ServerHarness()
        for stream: UInt32 in [1, 3, 5, 7] { harness.request(stream) }
        harness.stateMachine.drain(now: harness.now)
        _ = harness.frames()
        harness.pass(.seconds(1))
        let vector = "00001d07000000000000000007000000007b22726561736f6e223a2253687574646f776e227d"
        #expect(Array(harness.stateMachine.output.readableBytesView) == Hexadecimal.decode(vector))
    }

    @Test func lateResponsesEndTheConnection() {
        let harness = ServerHarness()
        harness.request(1)
        harness.stateMachine.drain(now: harness.now)
        harness.stateMachine.drain(now: harness.now)
        #expect(harness.stateMachine.nextDeadline == harness.now + .seconds(1))
        harness.pass(.seconds(1))
        #expect(harness.stateMachine.nextDeadline == harness.now + .seconds(4))
        harness.pass(.seconds(3))
        #expect(!harness.hasFinished)
        harness.pass(.seconds(1))
        #expect(harness.hasFinished)
    }

    @Test func anUnacknowledgedNoticeEndsAnIdleConnection() {
        let harness = ServerHarness()
        harness.stateMachine.drain(now: harness.now)
        #expect(!harness.hasFinished)
        harness.pass(.seconds(1))
        #expect(harness.hasFinished)
        let early = ServerHarness(settings: nil)
        early.stateMachine.drain(now: early.now)
        #expect(early.hasFinished)
    }

    @Test func theVectorOfAWrongEnvironmentEndsAtOnce() throws {
        let harness = ServerHarness()
        harness.request(1)
        let reason = #"{"reason":"BadCertificateEnvironment"}"#
        harness.stateMachine.goAway(.noError, debugData: reason, lastStream: 0, now: harness.now)
        let vector =
            "00002e07000000000000000000000000007b22726561736f6e223a22426164436572746966696361746545"
            + "6e7669726f6e6d656e74227d"
        #expect(Array(harness.stateMachine.output.readableBytesView) == Hexadecimal.decode(vector))
        #expect(harness.hasFinished)
    }

    @Test func goAwayCanForgetStreamsThatAreInFlight() {
        let harness = ServerHarness()
        for stream: UInt32 in [1, 3, 5] { harness.request(stream) }
        harness.headers(7)
        harness.stateMachine.goAway(.refusedStream, debugData: "", lastStream: 3, now: harness.now)
        harness.receive([])
        #expect(harness.frames().map(\.words) == [[3, 7]])
        #expect(harness.cancelled == [5])
        harness.data(7, "{}")
        harness.request(9)
        harness.respond(5)
        harness.respond(3)
        harness.stateMachine.goAway(.noError, debugData: "", lastStream: 5, now: harness.now)
        harness.respond(1)
        #expect(harness.frames().map(\.words.first) == [harness.idWord, harness.idWord])
        #expect(harness.requests.map(\.stream) == [1, 3, 5])
        #expect(harness.hasFinished)
    }

    @Test func aSecondGoAwayOnlyLowersTheLastStream() {
        let harness = ServerHarness()
        for stream: UInt32 in [1, 3, 5, 7] { harness.request(stream) }
        for _ in 0..<40 { harness.stateMachine.goAway(.noError, debugData: "enough", now: harness.now) }
        #expect(harness.frames().map(\.words) == [[7, 0]])
        harness.stateMachine.goAway(.noError, debugData: "enough", lastStream: 3, now: harness.now)
        harness.stateMachine.goAway(.noError, debugData: "enough", lastStream: 5, now: harness.now)
        #expect(harness.frames().map(\.words) == [[3, 0]])
        harness.pass(.seconds(5))
        #expect(harness.hasFinished)
        #expect(harness.frames().isEmpty)
    }

    @Test func aViolationAfterAGoAwayIsStillNamed() {
        let harness = ServerHarness()
        harness.request(1)
        harness.stateMachine.goAway(.noError, debugData: "", now: harness.now)
        _ = harness.frames()
        harness.receive([0, 0, 0, 6, 0, 0, 0, 0, 0])
        #expect(harness.frames().map(\.words) == [[1, HTTP2ErrorCode.frameSizeError.rawValue]])
    }

    // MARK: The client goes

    @Test func afterTheClientsGoAwayTheLastResponseEndsTheConnection() {
        let harness = ServerHarness()
        harness.request(1)
        harness.headers(3)
        harness.receive { $0.writeGoAway(lastStreamID: 0, .noError, debugData: "bye") }
        harness.respond(1)
        #expect(!harness.hasFinished)
        harness.data(3, "{}")
        #expect(harness.requests.map(\.stream) == [1, 3])
        harness.respond(3)
        #expect(harness.hasFinished)
        #expect(harness.frames().map(\.type) == [.headers, .headers])
        #expect(harness.ending?.code == .noError)
    }

    @Test func theGoAwayOfAClientThatWaitsForNothingEndsTheConnectionAtOnce() {
        let harness = ServerHarness()
        harness.request(1)
        harness.respond(1)
        harness.receive { $0.writeGoAway(lastStreamID: 0, .noError, debugData: "") }
        #expect(harness.hasFinished)
    }

    @Test func theLastBodyIsSentToAClientThatGoes() {
        let harness = ServerHarness(settings: [(.initialWindowSize, 0)])
        harness.request(1)
        harness.respond(1, .rejected(.badDeviceToken, apnsID: "ID"))
        harness.receive { $0.writeGoAway(lastStreamID: 0, .noError, debugData: "") }
        #expect(!harness.hasFinished)
        harness.receive { $0.writeFrame(.windowUpdate, streamID: 1, words: 100) }
        #expect(harness.hasFinished)
        #expect(harness.frames().map(\.type) == [.headers, .data])
    }

    @Test func aClientThatHasClosedItsHalfGetsItsResponses() {
        let harness = ServerHarness()
        for stream: UInt32 in [1, 3] { harness.request(stream) }
        harness.headers(5)
        harness.stateMachine.inputClosed(now: harness.now)
        #expect(harness.stateMachine.openStreams == 2)
        harness.respond(3)
        #expect(!harness.hasFinished)
        harness.respond(1, .rejected(.badDeviceToken, apnsID: "ID"))
        #expect(harness.hasFinished)
        #expect(harness.frames().map(\.type) == [.headers, .headers, .data])
    }

    @Test func aHalfThatIsClosedEndsAConnectionThatWaitsForNothing() {
        let harness = ServerHarness()
        harness.headers(1)
        harness.stateMachine.inputClosed(now: harness.now)
        #expect(harness.hasFinished)
        let early = ServerHarness(settings: nil)
        early.stateMachine.inputClosed(now: early.now)
        #expect(early.hasFinished)
        let late = ServerHarness()
        late.request(1)
        late.stateMachine.inputClosed(now: late.now)
        late.pass(.seconds(29))
        #expect(!late.hasFinished)
        late.pass(.seconds(1))
        #expect(late.hasFinished)
    }

    @Test func theEndOfTheTransportEndsEverything() {
        let harness = ServerHarness()
        harness.request(1)
        harness.stateMachine.transportClosed()
        harness.respond(1)
        harness.request(3)
        #expect(harness.frames().isEmpty)
        #expect(harness.stateMachine.nextDeadline == .distantFuture)
    }
}

extension ServerHarness {
    /// The first four bytes of the head of an accepted push: status 200 and the name of `apns-id`.
    fileprivate var idWord: UInt32 { 0x8800_0761 }
}
