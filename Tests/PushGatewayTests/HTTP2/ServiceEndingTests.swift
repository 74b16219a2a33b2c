import NIOCore
import PushProtocol
import Testing

@testable import PushGateway

/// GOAWAY in order and by surprise (RFC 9113 section 6.8, reference 1.3).
@Suite struct ServiceEndingTests {
    @Test func drainingAnnouncesItselfThenRefusesThenWaitsForTheAnswers() throws {
        var harness = ServiceHarness()
        harness.request(1)
        harness.machine.drain(now: harness.now)
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
        harness.answer(1)
        #expect(!harness.hasFinished)
        harness.answer(3)
        #expect(harness.hasFinished)
        #expect(harness.frames().map(\.type) == [.headers, .headers])
        #expect(harness.machine.ending?.code == .noError)
    }

    @Test func theLastNoticeIsTheVector() throws {
        var harness = ServiceHarness()
        for stream: UInt32 in [1, 3, 5, 7] { harness.request(stream) }
        harness.machine.drain(now: harness.now)
        _ = harness.frames()
        harness.pass(.seconds(1))
        let vector = "00001d07000000000000000007000000007b22726561736f6e223a2253687574646f776e227d"
        #expect(Array(harness.machine.output.readableBytesView) == Hexadecimal.decode(vector))
    }

    @Test func whatIsNotAnsweredInTimeIsGivenUp() {
        var harness = ServiceHarness()
        harness.request(1)
        harness.machine.drain(now: harness.now)
        harness.machine.drain(now: harness.now)
        #expect(harness.machine.nextDeadline == harness.now + .seconds(1))
        harness.pass(.seconds(1))
        #expect(harness.machine.nextDeadline == harness.now + .seconds(4))
        harness.pass(.seconds(3))
        #expect(!harness.hasFinished)
        harness.pass(.seconds(1))
        #expect(harness.hasFinished)
    }

    @Test func anUnansweredNoticeEndsAnIdleConnection() {
        var harness = ServiceHarness()
        harness.machine.drain(now: harness.now)
        #expect(!harness.hasFinished)
        harness.pass(.seconds(1))
        #expect(harness.hasFinished)
        var early = ServiceHarness(settings: nil)
        early.machine.drain(now: early.now)
        #expect(early.hasFinished)
    }

    @Test func theVectorOfAWrongEnvironmentEndsAtOnce() throws {
        var harness = ServiceHarness()
        harness.request(1)
        let reason = #"{"reason":"BadCertificateEnvironment"}"#
        harness.machine.goAway(.noError, debugData: reason, lastStream: 0, now: harness.now)
        let vector =
            "00002e07000000000000000000000000007b22726561736f6e223a22426164436572746966696361746545"
            + "6e7669726f6e6d656e74227d"
        #expect(Array(harness.machine.output.readableBytesView) == Hexadecimal.decode(vector))
        #expect(harness.hasFinished)
    }

    @Test func goAwayCanForgetStreamsThatAreInFlight() {
        var harness = ServiceHarness()
        for stream: UInt32 in [1, 3, 5] { harness.request(stream) }
        harness.headers(7)
        harness.machine.goAway(.refusedStream, debugData: "", lastStream: 3, now: harness.now)
        harness.receive([])
        #expect(harness.frames().map(\.words) == [[3, 7]])
        #expect(harness.cancelled == [5])
        harness.data(7, "{}")
        harness.request(9)
        harness.answer(5)
        harness.answer(3)
        harness.machine.goAway(.noError, debugData: "", lastStream: 5, now: harness.now)
        harness.answer(1)
        #expect(harness.frames().map(\.words.first) == [harness.idWord, 3, harness.idWord])
        #expect(harness.requests.map(\.stream) == [1, 3, 5])
        #expect(harness.hasFinished)
    }

    @Test func theEndOfTheTransportEndsEverything() {
        var harness = ServiceHarness()
        harness.request(1)
        harness.machine.transportClosed()
        harness.answer(1)
        harness.request(3)
        #expect(harness.frames().isEmpty)
        #expect(harness.machine.nextDeadline == .distantFuture)
    }
}

extension ServiceHarness {
    /// The first four bytes of the head of an accepted push: status 200 and the name of `apns-id`.
    fileprivate var idWord: UInt32 { 0x8800_0761 }
}
