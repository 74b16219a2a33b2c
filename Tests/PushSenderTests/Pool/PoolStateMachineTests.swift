import NIOCore
import PushSupport
import PushTesting
import Testing

@testable import PushSender

@Suite struct PoolMachineTests {
    private static let backoff = Backoff(base: .seconds(1), maximum: .seconds(60))
    private let now = NIODeadline.uptimeNanoseconds(1_000_000_000)

    @Test func aFirstPushOpensOneConnectionOnly() {
        var pool = PoolStateMachine(maximum: 4, backoff: Self.backoff)
        #expect(pool.pushesQueued(1, waiting: 1, now: self.now) == [.connect(0)])
        #expect(pool.pushesQueued(100, waiting: 101, now: self.now) == [])
    }

    @Test func aConnectionThatHasNotProvenItselfBringsNoOthers() {
        var pool = PoolStateMachine(maximum: 4, backoff: Self.backoff)
        _ = pool.pushesQueued(100, waiting: 100, now: self.now)
        pool.connectionReady(0)
        #expect(pool.workTaken(0, isIdle: false, waiting: 99, now: self.now) == [])
        pool.connectionConfirmed(0)
        #expect(pool.workTaken(0, isIdle: false, waiting: 98, now: self.now) == [.connect(1)])
        #expect(pool.workTaken(0, isIdle: false, waiting: 97, now: self.now) == [])
    }

    @Test func hungryConnectionsAreWokenBeforeOthersAreOpened() {
        var pool = PoolStateMachine(maximum: 4, backoff: Self.backoff)
        _ = pool.pushesQueued(1, waiting: 1, now: self.now)
        pool.connectionReady(0)
        pool.connectionConfirmed(0)
        #expect(pool.workTaken(0, isIdle: true, waiting: 0, now: self.now) == [])
        #expect(pool.pushesQueued(5, waiting: 5, now: self.now) == [.wake(0)])
        // It has been woken; once is enough.
        #expect(pool.pushesQueued(5, waiting: 10, now: self.now) == [.connect(1)])
    }

    @Test func failuresMakeTheNextAttemptWaitLongerAndLonger() {
        var generator = SeededGenerator(seed: 3)
        var pool = PoolStateMachine(maximum: 1, backoff: Self.backoff)
        var now = self.now
        var actions = pool.pushesQueued(1, waiting: 1, now: now)
        var longest: [TimeAmount] = []
        for attempt in 0..<12 {
            #expect(actions == [.connect(attempt)])
            actions = pool.connectionClosed(attempt, isOrderly: false, waiting: 1, now: now, using: &generator)
            guard case .connectLater(let time)? = actions.first else {
                actions = pool.pushesQueued(1, waiting: 1, now: now)
                continue
            }
            longest.append(time - now)
            // Pushes that come meanwhile change nothing.
            #expect(pool.pushesQueued(1, waiting: 2, now: now) == [])
            now = time
            actions = pool.timerFired(waiting: 2, now: now)
        }
        #expect(longest.allSatisfy { $0 <= .seconds(60) })
        #expect(longest.prefix(1).allSatisfy { $0 <= .seconds(1) })
        #expect(longest.max() ?? .zero > .seconds(5))
    }

    @Test func aProvenConnectionThatEndsIsReplacedAtOnceIfThereIsWork() {
        var generator = SeededGenerator(seed: 3)
        var pool = PoolStateMachine(maximum: 1, backoff: Self.backoff)
        _ = pool.pushesQueued(1, waiting: 1, now: self.now)
        pool.connectionReady(0)
        pool.connectionConfirmed(0)
        #expect(
            pool.connectionClosed(0, isOrderly: false, waiting: 3, now: self.now, using: &generator) == [.connect(1)]
        )
        pool.connectionReady(1)
        pool.connectionConfirmed(1)
        #expect(pool.connectionClosed(1, isOrderly: true, waiting: 0, now: self.now, using: &generator) == [])
    }

    @Test func connectionsThatEndSoonAfterTheirStartMakeTheNextOnesWait() {
        var generator = SeededGenerator(seed: 3)
        var pool = PoolStateMachine(maximum: 1, backoff: Backoff(base: .seconds(1), maximum: .seconds(60)))
        var actions = pool.pushesQueued(1, waiting: 1, now: self.now)
        for id in 0..<4 {
            #expect(actions == [.connect(id)])
            pool.connectionReady(id)
            pool.connectionConfirmed(id)
            actions = pool.connectionClosed(id, isOrderly: true, waiting: 1, now: self.now, using: &generator)
        }
        guard case .connectLater(let time)? = actions.first else {
            Issue.record("\(actions)")
            return
        }
        #expect(pool.timerFired(waiting: 1, now: time) == [.connect(4)])
        pool.connectionReady(4)
        pool.connectionConfirmed(4)
        // One that lasts makes up for them.
        let later = time + .seconds(3600)
        #expect(pool.connectionClosed(4, isOrderly: true, waiting: 1, now: later, using: &generator) == [.connect(5)])
    }

    @Test func aDrainingConnectionIsReplacedWhileItStillWaits() {
        var generator = SeededGenerator(seed: 3)
        var pool = PoolStateMachine(maximum: 1, backoff: Self.backoff)
        _ = pool.pushesQueued(1, waiting: 1, now: self.now)
        pool.connectionReady(0)
        pool.connectionConfirmed(0)
        #expect(pool.connectionDraining(0, waiting: 2, now: self.now, using: &generator) == [.connect(1)])
        // The next one is sent away before it has been of any use.
        pool.connectionReady(1)
        guard case .connectLater? = pool.connectionDraining(1, waiting: 2, now: self.now, using: &generator).first
        else {
            Issue.record("it did not wait")
            return
        }
        #expect(pool.connectionClosed(1, isOrderly: true, waiting: 2, now: self.now, using: &generator) == [])
        // Another credential has no such past.
        #expect(pool.credentialChanged(waiting: 2, now: self.now) == [.connect(2)])
        // A connection with the old one that comes about only now takes no work.
        #expect(pool.credentialChanged(waiting: 2, now: self.now) == [.connect(3)])
        pool.connectionReady(2)
        #expect(!pool.isReady(2))
    }

    @Test func aClosedPoolOpensNothing() {
        var pool = PoolStateMachine(maximum: 1, backoff: Self.backoff)
        pool.close()
        #expect(pool.pushesQueued(1, waiting: 1, now: self.now) == [])
    }
}
