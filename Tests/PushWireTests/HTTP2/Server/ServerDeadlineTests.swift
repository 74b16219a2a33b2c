import NIOCore
import PushTesting
import PushTypes
import Testing

@testable import PushWire

/// Everything that waits, and how it ends.
@Suite struct ServerDeadlineTests {
    @Test func aClientThatNeverSpeaksIsGivenUp() {
        let harness = ServerHarness(settings: nil)
        #expect(harness.stateMachine.nextDeadline == harness.now + .seconds(10))
        harness.receive(Array(HTTP2Constants.preface.utf8))
        harness.pass(.seconds(9))
        #expect(!harness.hasFinished)
        harness.pass(.seconds(1))
        #expect(harness.ending?.code == .settingsTimeout)
    }

    @Test func aClientThatNeverConfirmsIsGivenUp() {
        let harness = ServerHarness(confirms: false)
        harness.pass(.seconds(29))
        #expect(!harness.hasFinished)
        harness.pass(.seconds(1))
        #expect(harness.ending?.code == .settingsTimeout)
    }

    @Test func aRequestThatNeverEndsIsCancelledAndTheOthersGoOn() {
        let harness = ServerHarness()
        harness.headers(1)
        harness.pass(.seconds(10))
        harness.headers(3)
        harness.data(1, "a", endStream: false)
        harness.pass(.seconds(20))
        #expect(harness.resets() == [1: .cancel])
        harness.data(1, "b")
        harness.data(3, "{}")
        harness.respond(3)
        #expect(harness.frames().map(\.type) == [.headers])
        #expect(!harness.hasFinished)
    }

    @Test func manySlowRequestsDoNotKeepTheConnection() {
        let harness = ServerHarness()
        var stream: UInt32 = 1
        for _ in 0..<10 where !harness.hasFinished {
            harness.headers(stream)
            stream += 2
            harness.pass(.seconds(30))
        }
        #expect(harness.ending?.code == .enhanceYourCalm)
        #expect(stream == 7)
    }

    @Test func aFrameOrHeaderBlockThatTricklesEndsTheConnection() {
        let frame = ServerHarness()
        for byte in [0, 0, 100, 0, 0, 0, 0] as [UInt8] where !frame.hasFinished {
            frame.receive([byte])
            frame.pass(.seconds(6))
        }
        #expect(frame.ending?.code == .enhanceYourCalm)
        let block = ServerHarness()
        block.receive([0, 0, 0, 1, 0, 0, 0, 0, 1])
        for _ in 0..<5 {
            block.pass(.seconds(6))
            block.receive([0, 0, 0, 9, 0, 0, 0, 0, 1])
        }
        block.pass(.seconds(1))
        #expect(block.ending?.code == .enhanceYourCalm)
    }

    @Test func aFrameThatComesToItsEndStartsAnew() {
        let harness = ServerHarness()
        // Always the end of one PING and the start of the next.
        harness.receive([0, 0, 8, 6, 0])
        for _ in 0..<20 {
            harness.pass(.seconds(20))
            harness.receive([0, 0, 0, 0] + [UInt8](repeating: 0, count: 8) + [0, 0, 8, 6, 0])
        }
        #expect(!harness.hasFinished)
    }

    @Test func responsesHaveNoDeadline() {
        let harness = ServerHarness()
        harness.request(1)
        harness.pass(.minutes(20))
        harness.respond(1)
        #expect(harness.frames().map(\.type) == [.headers])
    }

    @Test func anIdleConnectionEndsWhereThatIsWanted() throws {
        var limits = HTTP2ServerLimits()
        limits.idle = .minutes(5)
        let harness = ServerHarness(limits: limits)
        harness.pass(.minutes(4))
        harness.request(1)
        harness.pass(.minutes(10))
        #expect(!harness.hasFinished, "an answer is awaited")
        harness.respond(1)
        _ = harness.frames()
        harness.pass(.seconds(1))
        #expect(harness.hasFinished)
        let goAway = try #require(harness.frames().last)
        #expect(goAway.words == [1, 0])
        #expect(String(decoding: goAway.content.dropFirst(8), as: UTF8.self) == #"{"reason":"IdleTimeout"}"#)
    }

    @Test func aSilentConnectionIsProbedAndKeptIfItResponds() {
        let harness = ServerHarness()
        for _ in 0..<48 {
            #expect(harness.stateMachine.nextDeadline == harness.now + .minutes(30))
            harness.pass(.minutes(30))
            #expect(harness.frames().map(\.type) == [.ping])
            harness.receive([0, 0, 8, 6, 1, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 8))
        }
        harness.pass(.minutes(30))
        harness.pass(.seconds(20))
        #expect(harness.hasFinished)
    }

    @Test func aClientThatDoesNotReadIsGivenUp() {
        let harness = ServerHarness()
        harness.stateMachine.setWritable(false, now: harness.now)
        harness.pass(.seconds(50))
        harness.stateMachine.setWritable(false, now: harness.now)
        #expect(!harness.hasFinished)
        harness.pass(.seconds(10))
        #expect(harness.ending?.code == .enhanceYourCalm)
    }

    /// A client that reads, answers PING and opens no window keeps neither the responses nor the connection.
    @Test func aClientThatOpensNoWindowIsGivenUp() {
        let harness = ServerHarness(settings: [(.initialWindowSize, 0)])
        for number in 0..<100 as Range<UInt32> {
            harness.request(number * 2 + 1)
            harness.respond(number * 2 + 1, .rejected(.badDeviceToken, apnsID: "ID"))
        }
        #expect(harness.stateMachine.nextDeadline <= harness.now, "the time is noted soon")
        harness.pass(.nanoseconds(0))
        for _ in 0..<5 {
            harness.pass(.seconds(10))
            harness.receive([0, 0, 8, 6, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 8))
        }
        #expect(!harness.hasFinished)
        // One that goes on has the time again.
        harness.receive { $0.writeFrame(.windowUpdate, streamID: 1, words: 100) }
        harness.pass(.nanoseconds(0))
        harness.pass(.seconds(59))
        #expect(!harness.hasFinished)
        harness.pass(.seconds(1))
        #expect(harness.ending?.code == .enhanceYourCalm)
    }

    @Test func aClientThatOpensItsWindowsLateHasItsResponses() {
        let harness = ServerHarness(settings: [(.initialWindowSize, 0)])
        harness.request(1)
        harness.respond(1, .rejected(.badDeviceToken, apnsID: "ID"))
        harness.pass(.nanoseconds(0))
        harness.pass(.seconds(30))
        harness.receive { $0.writeFrame(.windowUpdate, streamID: 1, words: 100) }
        #expect(harness.frames().contains { $0.type == .data })
        harness.pass(.minutes(10))
        #expect(!harness.hasFinished)
    }

    @Test func whenTheDeadlineIsNothingIsDueTwice() {
        let harness = ServerHarness()
        harness.headers(1)
        harness.data(1, "{}")
        for _ in 0..<100 {
            let next = harness.stateMachine.nextDeadline
            guard next < .distantFuture else { break }
            harness.now = next
            harness.pass(.nanoseconds(0))
            #expect(harness.stateMachine.nextDeadline > harness.now)
            if harness.frames().contains(where: { $0.type == .ping }) {
                harness.receive([0, 0, 8, 6, 1, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 8))
            }
        }
        #expect(!harness.hasFinished)
    }

    @Test func whatWouldEndAnIdleConnectionIsNotDueWhileItDrains() {
        var limits = HTTP2ServerLimits()
        limits.idle = .minutes(5)
        limits.keepAlive = .minutes(5)
        let harness = ServerHarness(limits: limits)
        harness.pass(.milliseconds(299_500))
        harness.stateMachine.drain(now: harness.now)
        harness.pass(.milliseconds(600))
        #expect(harness.stateMachine.nextDeadline > harness.now)
        #expect(!harness.hasFinished)
    }
}
