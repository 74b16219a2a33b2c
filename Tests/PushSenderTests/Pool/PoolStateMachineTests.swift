import NIOCore
import PushSupport
import PushTesting
import Testing

@testable import PushSender

@Suite struct PoolMachineTests {
    private static let backoff = Backoff(base: .seconds(1), maximum: .seconds(60))
    private let now = NIODeadline.uptimeNanoseconds(1_000_000_000)

    @Test func aFirstPushOpensOneConnectionOnly() {
        var machine = PoolStateMachine(maximum: 4, backoff: Self.backoff)
        #expect(machine.workArrived(1, waiting: 1, now: self.now) == [.connect(0)])
        #expect(machine.workArrived(100, waiting: 101, now: self.now) == [])
    }

    @Test func aConnectionThatHasNotProvenItselfBringsNoOthers() {
        var machine = PoolStateMachine(maximum: 4, backoff: Self.backoff)
        _ = machine.workArrived(100, waiting: 100, now: self.now)
        machine.ready(0)
        #expect(machine.asked(0, isHungry: false, waiting: 99, now: self.now) == [])
        machine.proven(0)
        #expect(machine.asked(0, isHungry: false, waiting: 98, now: self.now) == [.connect(1)])
        #expect(machine.asked(0, isHungry: false, waiting: 97, now: self.now) == [])
    }

    @Test func hungryConnectionsAreWokenBeforeOthersAreOpened() {
        var machine = PoolStateMachine(maximum: 4, backoff: Self.backoff)
        _ = machine.workArrived(1, waiting: 1, now: self.now)
        machine.ready(0)
        machine.proven(0)
        #expect(machine.asked(0, isHungry: true, waiting: 0, now: self.now) == [])
        #expect(machine.workArrived(5, waiting: 5, now: self.now) == [.wake(0)])
        // It has been woken; once is enough.
        #expect(machine.workArrived(5, waiting: 10, now: self.now) == [.connect(1)])
    }

    @Test func failuresMakeTheNextAttemptWaitLongerAndLonger() {
        var generator = SeededGenerator(seed: 3)
        var machine = PoolStateMachine(maximum: 1, backoff: Self.backoff)
        var now = self.now
        var actions = machine.workArrived(1, waiting: 1, now: now)
        var longest: [TimeAmount] = []
        for attempt in 0..<12 {
            #expect(actions == [.connect(attempt)])
            actions = machine.closed(attempt, isOrderly: false, waiting: 1, now: now, using: &generator)
            guard case .connectLater(let time)? = actions.first else {
                actions = machine.workArrived(1, waiting: 1, now: now)
                continue
            }
            longest.append(time - now)
            // Pushes that come meanwhile change nothing.
            #expect(machine.workArrived(1, waiting: 2, now: now) == [])
            now = time
            actions = machine.timerFired(waiting: 2, now: now)
        }
        #expect(longest.allSatisfy { $0 <= .seconds(60) })
        #expect(longest.prefix(1).allSatisfy { $0 <= .seconds(1) })
        #expect(longest.max() ?? .zero > .seconds(5))
    }

    @Test func aProvenConnectionThatEndsIsReplacedAtOnceIfThereIsWork() {
        var generator = SeededGenerator(seed: 3)
        var machine = PoolStateMachine(maximum: 1, backoff: Self.backoff)
        _ = machine.workArrived(1, waiting: 1, now: self.now)
        machine.ready(0)
        machine.proven(0)
        #expect(machine.closed(0, isOrderly: false, waiting: 3, now: self.now, using: &generator) == [.connect(1)])
        machine.ready(1)
        machine.proven(1)
        #expect(machine.closed(1, isOrderly: true, waiting: 0, now: self.now, using: &generator) == [])
    }

    @Test func connectionsThatEndSoonAfterTheirStartMakeTheNextOnesWait() {
        var generator = SeededGenerator(seed: 3)
        var machine = PoolStateMachine(maximum: 1, backoff: Backoff(base: .seconds(1), maximum: .seconds(60)))
        var actions = machine.workArrived(1, waiting: 1, now: self.now)
        for id in 0..<4 {
            #expect(actions == [.connect(id)])
            machine.ready(id)
            machine.proven(id)
            actions = machine.closed(id, isOrderly: true, waiting: 1, now: self.now, using: &generator)
        }
        guard case .connectLater(let time)? = actions.first else {
            Issue.record("\(actions)")
            return
        }
        #expect(machine.timerFired(waiting: 1, now: time) == [.connect(4)])
        machine.ready(4)
        machine.proven(4)
        // One that lasts makes up for them.
        let later = time + .seconds(3600)
        #expect(machine.closed(4, isOrderly: true, waiting: 1, now: later, using: &generator) == [.connect(5)])
    }

    @Test func aDrainingConnectionIsReplacedWhileItStillWaits() {
        var generator = SeededGenerator(seed: 3)
        var machine = PoolStateMachine(maximum: 1, backoff: Self.backoff)
        _ = machine.workArrived(1, waiting: 1, now: self.now)
        machine.ready(0)
        machine.proven(0)
        #expect(machine.draining(0, waiting: 2, now: self.now, using: &generator) == [.connect(1)])
        // The next one is sent away before it has been of any use.
        machine.ready(1)
        guard case .connectLater? = machine.draining(1, waiting: 2, now: self.now, using: &generator).first else {
            Issue.record("it did not wait")
            return
        }
        #expect(machine.closed(1, isOrderly: true, waiting: 2, now: self.now, using: &generator) == [])
        // Another credential has no such past.
        #expect(machine.startAfresh(waiting: 2, now: self.now) == [.connect(2)])
        // A connection with the old one that comes about only now takes no work.
        #expect(machine.startAfresh(waiting: 2, now: self.now) == [.connect(3)])
        machine.ready(2)
        #expect(!machine.isReady(2))
    }

    @Test func aClosedPoolOpensNothing() {
        var machine = PoolStateMachine(maximum: 1, backoff: Self.backoff)
        machine.close()
        #expect(machine.workArrived(1, waiting: 1, now: self.now) == [])
    }
}
