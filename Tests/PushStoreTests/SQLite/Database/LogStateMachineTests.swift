import PushTesting
import Testing

@testable import PushStore

@Suite struct LogStateMachineTests {
    private let start = ContinuousClock.now
    private var machine: LogStateMachine {
        LogStateMachine(limits: .init(checkpoint: 10, renewal: 20, hold: 30))
    }

    @Test func eachLengthHasItsConsequence() {
        var machine = self.machine
        #expect(machine.commit(pages: 9) == false)
        #expect(machine.commit(pages: 19) == true)
        #expect(machine.turn(.length, now: self.start) == .pass)
        #expect(machine.commit(pages: 29) == true)
        #expect(machine.admitsWriter(now: self.start))
        #expect(machine.commit(pages: 30) == true)
        #expect(!machine.admitsWriter(now: self.start))
        #expect(machine.turn(.length, now: self.start) == .fold)
    }

    @Test func oneFoldsAndTheOthersWait() {
        var machine = self.machine
        _ = machine.commit(pages: 30)
        #expect(machine.turn(.length, now: self.start) == .fold)
        #expect(machine.turn(.length, now: self.start) == .wait)
        #expect(machine.turn(.demand, now: self.start) == .wait)
        #expect(!machine.admitsWriter(now: self.start))
        machine.end(isComplete: true, now: self.start)
        #expect(machine.admitsWriter(now: self.start))
        #expect(machine.turn(.length, now: self.start) == .pass)
        #expect(machine.folds == (1, 0))
    }

    /// Otherwise every transaction would wait for the reads that a fold waits for.
    @Test func whoHasWrittenDoesNotWaitForAFoldWhileThereIsRoom() {
        var machine = self.machine
        _ = machine.commit(pages: 20)
        #expect(machine.turn(.length, now: self.start) == .fold)
        #expect(machine.commit(pages: 29) == true)
        #expect(machine.turn(.length, now: self.start) == .pass)
        #expect(machine.commit(pages: 30) == true)
        #expect(machine.turn(.length, now: self.start) == .wait)
    }

    @Test func aSnapshotOfAnotherProcessStopsWritersForAMomentOnly() {
        var machine = self.machine
        _ = machine.commit(pages: 30)
        _ = machine.turn(.length, now: self.start)
        machine.end(isComplete: false, now: self.start)
        #expect(machine.admitsWriter(now: self.start))
        #expect(machine.turn(.length, now: self.start) == .pass)
        let later = self.start + LogStateMachine.grace
        #expect(!machine.admitsWriter(now: later))
        #expect(machine.turn(.length, now: later) == .fold)
        #expect(machine.folds == (0, 1))
    }

    @Test func aSnapshotOfThisProcessStopsWritersForLonger() {
        var machine = self.machine
        _ = machine.commit(pages: 30)
        _ = machine.turn(.length, now: self.start)
        machine.end(isComplete: false, isOwn: true, now: self.start)
        #expect(machine.admitsWriter(now: self.start))
        #expect(!machine.admitsWriter(now: self.start + LogStateMachine.shortGrace))
    }

    /// A log that is looked at now and then does not stop writers more often than one that grows.
    @Test func aLongFileIsFoldedUnlessASnapshotPreventedIt() {
        var machine = self.machine
        #expect(machine.turn(.fileLength, now: self.start) == .fold)
        #expect(machine.turn(.fileLength, now: self.start) == .wait)
        machine.end(isComplete: false, now: self.start)
        #expect(machine.turn(.fileLength, now: self.start) == .pass)
        #expect(machine.turn(.fileLength, now: self.start + LogStateMachine.grace) == .fold)
    }

    @Test func aFoldOnDemandLooksAtNoLength() {
        var machine = self.machine
        #expect(machine.turn(.demand, now: self.start) == .fold)
    }
}
