import PushTesting
import PushTypes
import Testing

@testable import PushProvider

@Suite struct PushServiceStateMachineTests {
    private let time = ManualTime()

    private func isSending(_ machine: inout PushServiceStateMachine) -> Bool {
        machine.admit(at: self.time.steady) == .send
    }

    @Test func aPushServiceThatAnswersIsSentTo() {
        var machine = PushServiceStateMachine()
        for _ in 0..<100 {
            #expect(self.isSending(&machine))
            machine.ended(.answered, at: self.time.steady)
        }
    }

    @Test func itIsLeftAloneWhileItAsksForIt() {
        var machine = PushServiceStateMachine()
        #expect(self.isSending(&machine))
        machine.ended(.throttled(.seconds(30)), at: self.time.steady)
        #expect(machine.admit(at: self.time.steady) == .wait(reason: "the push service asked for a pause"))
        self.time.advance(by: .seconds(29))
        #expect(!self.isSending(&machine))
        self.time.advance(by: .seconds(1))
        #expect(self.isSending(&machine))
        machine.ended(.throttled(.seconds(1_000_000_000)), at: self.time.steady)
        self.time.advance(by: .seconds(900))
        #expect(self.isSending(&machine), "it cannot ask for more than 15 minutes")
    }

    @Test func whatIsNotSentSaysNothing() {
        var machine = PushServiceStateMachine()
        for _ in 0..<100 {
            #expect(self.isSending(&machine))
            machine.ended(.notSent, at: self.time.steady)
        }
        for _ in 0..<5 { machine.ended(.failed, at: self.time.steady) }
        self.time.advance(by: .seconds(5))
        #expect(self.isSending(&machine))
        #expect(!self.isSending(&machine))
        machine.ended(.notSent, at: self.time.steady)
        #expect(self.isSending(&machine), "the next message finds out whether it is back")
    }

    @Test func failuresInARowPauseIt() {
        var machine = PushServiceStateMachine()
        for _ in 0..<4 {
            #expect(self.isSending(&machine))
            machine.ended(.failed, at: self.time.steady)
        }
        machine.ended(.answered, at: self.time.steady)
        for _ in 0..<5 {
            #expect(self.isSending(&machine), "an answer begins anew")
            machine.ended(.failed, at: self.time.steady)
        }
        #expect(machine.admit(at: self.time.steady) == .wait(reason: "the push service does not answer"))
        self.time.advance(by: .seconds(5))
        #expect(self.isSending(&machine))
        #expect(!self.isSending(&machine), "one message finds out whether it is back")
        machine.ended(.failed, at: self.time.steady)
        self.time.advance(by: .seconds(9))
        #expect(!self.isSending(&machine))
        self.time.advance(by: .seconds(1))
        #expect(self.isSending(&machine))
        machine.ended(.answered, at: self.time.steady)
        #expect(self.isSending(&machine))
        #expect(self.isSending(&machine))
    }

    /// Messages that were on their way when the pause began fail together, and lengthen nothing.
    @Test func manyFailuresAtOnceAreOnePause() {
        var machine = PushServiceStateMachine()
        for _ in 0..<64 { #expect(self.isSending(&machine)) }
        for _ in 0..<64 { machine.ended(.failed, at: self.time.steady) }
        self.time.advance(by: .seconds(5))
        #expect(self.isSending(&machine))
    }

    @Test func pausesHaveABound() {
        var machine = PushServiceStateMachine()
        for _ in 0..<100 {
            _ = machine.admit(at: self.time.steady)
            machine.ended(.failed, at: self.time.steady)
            self.time.advance(by: .seconds(300))
            #expect(self.isSending(&machine))
        }
    }
}
