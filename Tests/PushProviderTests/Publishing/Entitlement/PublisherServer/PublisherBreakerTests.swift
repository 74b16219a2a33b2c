import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The breaker between the provider and a publisher's server.
@Suite struct PublisherBreakerTests {
    /// A breaker with a manual clock.
    private final class Subject {
        private var breaker = PublisherBreaker()
        private let time = ManualTime()
        private var client: UInt8 = 0

        var isOpen: Bool { self.breaker.isOpen }

        func admit() -> PublisherBreaker.Admission { self.breaker.admit(at: self.time.steady) }
        func succeed() { self.breaker.succeeded() }
        func wait(_ duration: Duration) { self.time.advance(by: duration) }

        /// Returns `true` if the last failure opened it.
        @discardableResult
        func fail(times: Int = 1, clients: UInt8 = 3) -> Bool {
            (0..<times).reduce(false) { _, _ in
                self.client = (self.client + 1) % clients
                return self.breaker.failed(.network([192, 0, 2, self.client]), at: self.time.steady)
            }
        }
    }

    private let subject = Subject()

    @Test func failuresInARowOpenIt() {
        self.subject.fail(times: 4)
        self.subject.succeed()
        self.subject.fail(times: 4)
        #expect(self.subject.admit() == .ask)
        #expect(self.subject.fail())
        #expect(self.subject.isOpen)
        #expect(self.subject.admit() == .wait(.seconds(10)))
        self.subject.wait(.seconds(4))
        #expect(self.subject.admit() == .wait(.seconds(6)))
    }

    /// What one client makes up is its own harm.
    @Test func oneClientAloneDoesNotOpenIt() {
        self.subject.fail(times: 1000, clients: 1)
        #expect(!self.subject.isOpen && self.subject.admit() == .ask)
        self.subject.fail(times: 10, clients: 2)
        #expect(!self.subject.isOpen)
        self.subject.fail(times: 3, clients: 3)
        #expect(self.subject.isOpen)
    }

    @Test func oneProbeClosesIt() {
        self.subject.fail(times: 5)
        self.subject.wait(.seconds(10))
        #expect(self.subject.admit() == .ask)
        // The others wait for its end.
        #expect(self.subject.admit() == .wait(.seconds(10)))
        self.subject.succeed()
        #expect(!self.subject.isOpen)
        #expect(self.subject.admit() == .ask)
        self.subject.fail(times: 4)
        #expect(!self.subject.isOpen)
    }

    @Test func failedProbesDoubleThePause() {
        self.subject.fail(times: 5)
        for seconds in [10, 20, 40, 80, 160, 300, 300] {
            #expect(self.subject.admit() == .wait(.seconds(seconds)))
            self.subject.wait(.seconds(seconds))
            #expect(self.subject.admit() == .ask)
            #expect(!self.subject.fail())
        }
    }

    /// Questions that were under way when it opened end later.
    @Test func lateFailuresChangeNothing() {
        self.subject.fail(times: 5)
        self.subject.wait(.seconds(5))
        self.subject.fail(times: 20)
        #expect(self.subject.admit() == .wait(.seconds(5)))
        self.subject.succeed()
        #expect(self.subject.admit() == .ask)
    }
}
